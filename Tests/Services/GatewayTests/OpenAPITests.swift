import Testing
import TextFormats

@testable import Gateway

struct OpenAPITests {
    @Test func theDocumentHasEveryRouteOnce() throws {
        guard case .object(let root) = OpenAPIDocument.document(RouteTable.rows),
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
        #expect(count == RouteTable.rows.count)
        #expect(JSONValue(json: OpenAPIDocument.bytes) == .object(root))
    }

    @Test func everyBodyHasASchema() {
        for row in RouteTable.rows {
            #expect(row.body.map { OpenAPISchemas.all[$0] != nil } ?? (row.method == .get), "\(row.template)")
        }
    }

    @Test func everyProblemSaysWhatToDo() {
        for code in ProblemCode.allCases {
            #expect(400...599 ~= code.status && !code.title.isEmpty && code.remedy.hasSuffix("."), "\(code)")
        }
    }
}
