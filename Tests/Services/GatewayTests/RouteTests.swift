import HTTPTypes
import HummingbirdCore
import Testing
import WebRequests

@testable import Gateway

struct RouteTests {
    /// The name and the parameters of what a router finds; `nil` for another match.
    private static func found(_ method: String, _ target: String, in router: Router = .shared) -> Found? {
        guard let path = RequestPath(target), case .found(let route, let values) = router.find(method, path) else {
            return nil
        }
        return Found(name: route.name, values: values)
    }

    private struct Found: Equatable {
        let name: String
        var values: [String: String] = [:]
    }

    private static func allowed(_ method: String, _ target: String) -> [String]? {
        guard let path = RequestPath(target),
            case .otherMethod(let allowed) = Router.shared.find(method, path)
        else { return nil }
        return allowed
    }

    private static func router(_ routes: [(Route.Method, String, String)]) -> Router {
        Router(
            routes.map { method, path, name in
                Route(method, path, name: name, access: .open, summary: "", answer: .json(nil)) { _ in
                    Response(status: .ok)
                }
            })
    }

    @Test func everyRouteIsFoundByAPathOfItsTemplate() {
        for route in RouteTable.routes {
            let target = route.pattern.names.reduce(route.path) { text, name in
                text.replacing("{\(name)+}", with: "a/b").replacing("{\(name)}", with: name == "language" ? "de" : "1")
            }
            let found = Self.found(route.method.rawValue, target)
            #expect(found?.name == route.name && found?.values.count == route.pattern.names.count, "\(target)")
        }
    }

    @Test func otherMethodsAndUnknownPaths() throws {
        #expect(Self.found("HEAD", "/catalog.json") == Found(name: "catalog-list"))
        #expect(Self.allowed("POST", "/catalog.json") == ["GET", "HEAD"])
        #expect(Self.allowed("BREW", "/catalog.json") == ["GET", "HEAD"])
        #expect(Self.allowed("PATCH", "/v1/jobs") == ["POST", "GET", "HEAD"])
        #expect(Self.allowed("POST", "/v1/packages/EE") == ["GET", "HEAD", "DELETE"])
        for target in ["/versions.json", "/v1", "/v1/", "/v1/jobs/", "/ui", "/ui/", "/catalog.json/", "/v2/a"] {
            guard case .unknown = Router.shared.find("GET", try #require(RequestPath(target))) else {
                Issue.record("\(target) leads somewhere")
                continue
            }
        }
        #expect(Self.found("GET", "/") == Found(name: "page"))
    }

    @Test func ofTwoRoutesThatFitTheFirstIsTaken() {
        let router = Self.router([
            (.get, "/a/{x}.json", "json"), (.get, "/a/b", "text"), (.get, "/a/{x}", "any"), (.get, "/a/{y}/c", "below"),
            (.post, "/a/b", "post"), (.get, "/a/b/{z}", "text-below"), (.get, "/{first}/{rest+}", "rest"),
            (.delete, "/{first}/{second}", "delete"),
        ])
        func name(_ method: String, _ target: String) -> String? { Self.found(method, target, in: router)?.name }
        #expect(name("GET", "/a/b.json") == "json" && name("GET", "/a/b") == "text" && name("GET", "/a/x") == "any")
        #expect(name("GET", "/a/.json") == "any", "a parameter is not empty")
        #expect(name("GET", "/a/b/c") == "below", "the earlier row, although another one has more texts")
        #expect(name("GET", "/a/b/d") == "text-below" && name("GET", "/a/x/d") == "rest")
        #expect(name("POST", "/a/b") == "post" && name("DELETE", "/a/b") == "delete" && name("GET", "/z/b") == "rest")
        #expect(Self.found("GET", "/z/b/c/", in: router)?.values == ["first": "z", "rest": "b/c/"])
        #expect(name("GET", "/z/") == nil && name("GET", "/z") == nil && name("PUT", "/a/b") == nil)
        // A path that a text fits only half-way takes the parameter's branch.
        #expect(name("GET", "/a/b/d/e") == "rest")
    }

    @Test func segmentsAreComparedWithoutEscapes() {
        #expect(Self.found("GET", "/v1/%6Aobs/7") == Found(name: "job", values: ["job": "7"]))
        #expect(Self.found("GET", "/v1/regions/a%20b%3F") == Found(name: "region", values: ["region": "a b?"]))
        #expect(Self.found("GET", "/tiles/%7Estreets%2Ejson")?.values == ["name": "~streets"])
        #expect(Self.found("GET", "/tiles/%257E.json")?.values == ["name": "%7E"])
        #expect(Self.found("GET", "/v1%2Fjobs") == nil && Self.found("GET", "/v1/jobs%2F7") == nil)
    }

    @Test func patternsTakeTheirParameters() {
        let router = Self.router([(.get, "/tiles/{id}.json", "tiles"), (.get, "/ui/{path+}", "ui")])
        #expect(Self.found("GET", "/tiles/EE.json", in: router)?.values == ["id": "EE"])
        #expect(Self.found("GET", "/tiles/.json", in: router) == nil)
        #expect(Self.found("GET", "/tiles/EE.json/", in: router) == nil)
        #expect(Self.found("GET", "/ui/a/b", in: router)?.values == ["path": "a/b"])
        #expect(Self.found("GET", "/ui", in: router) == nil)
    }
}
