import Testing
import TextFormats
import WebRequests

@testable import Gateway

struct OpenAPITests {
    @Test func theDocumentHasEveryRouteOnce() throws {
        guard case .object(let root) = OpenAPIDocument.document(RouteTable.routes),
            case .object(let paths)? = root["paths"]
        else {
            Issue.record("no paths")
            return
        }
        var operations: Set<String> = []
        var count = 0
        for (_, methods) in paths {
            guard case .object(let methods) = methods else { continue }
            for (_, operation) in methods {
                count += 1
                guard case .object(let members) = operation, case .string(let id)? = members["operationId"] else {
                    Issue.record("an operation without an id")
                    continue
                }
                #expect(operations.insert(id).inserted, "\(id)")
            }
        }
        #expect(count == RouteTable.routes.count)
        #expect(JSONValue(json: OpenAPIDocument.bytes) == .object(root))
    }

    @Test func everyOperationOfTheDocumentIsARouteAndTheReverse() throws {
        guard case .object(let root)? = JSONValue(json: OpenAPIDocument.bytes),
            case .object(let paths)? = root["paths"]
        else {
            Issue.record("no paths")
            return
        }
        var documented: Set<String> = []
        for (template, methods) in paths {
            guard case .object(let methods) = methods else { continue }
            // A path with a value for each parameter, as a client would send it.
            let path = template.replacing(/\{[^}]*\}/, with: "1")
            for method in methods.keys {
                documented.insert("\(method.uppercased()) \(template)")
                let match = Router.shared.find(method.uppercased(), try #require(RequestPath(path)))
                guard case .found = match else {
                    Issue.record("\(method) \(template) leads nowhere")
                    continue
                }
            }
        }
        let routes = Set(
            RouteTable.routes.map { "\($0.method.rawValue) \($0.path.replacing("+}", with: "}"))" })
        #expect(documented == routes)
    }

    @Test func everySchemaThatIsNamedExists() throws {
        let text = String(decoding: OpenAPIDocument.bytes, as: UTF8.self)
        let schemas = Set(OpenAPISchemas.bodies.keys).union(OpenAPISchemas.answers.keys)
        let named = Set(text.matches(of: /#\/components\/schemas\/(\w+)/).map { String($0.output.1) })
        #expect(named == schemas)
        #expect(Set(OpenAPISchemas.bodies.keys).isDisjoint(with: OpenAPISchemas.answers.keys))
    }

    @Test func everyBodyHasASchema() {
        for route in RouteTable.routes {
            #expect(
                route.body.map { OpenAPISchemas.bodies[$0] != nil }
                    ?? (route.method == .get || route.method == .delete),
                "\(route.path)")
        }
    }

    @Test func everyProblemSaysWhatToDo() {
        for code in ProblemCode.allCases {
            #expect(400...599 ~= code.status && !code.title.isEmpty && code.remedy.hasSuffix("."), "\(code)")
        }
    }
}
