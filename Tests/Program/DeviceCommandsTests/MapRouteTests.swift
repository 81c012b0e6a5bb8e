import Testing
import TextFormats

@testable import DeviceCommands

/// Paths and headers of the server.
struct MapRouteTests {
    @Test func pathsNameWhatTheySay() {
        #expect(MapRoute("/") == .index && MapRoute("/?x") == .index)
        #expect(MapRoute("/styles/my%20style.json?v=2") == .style("my style"))
        #expect(MapRoute("/tilesets/demo.json") == .tileset("demo"))
        #expect(MapRoute("/tiles/demo/1/0/1") == .resource("tiles/demo/1/0/1"))
        #expect(
            MapRoute("/https/a.example/styles/x.json?key=1") == .resource("https/a.example/styles/x.json?key=1"))
        #expect(MapRoute("/styles/a/b.json") == .resource("styles/a/b.json"))
        #expect(MapRoute("/styles/.json") == .resource("styles/.json"))
    }

    @Test(arguments: [
        ("127.0.0.1:8080", true), ("localhost", true), ("LOCALHOST:1", true), ("[::1]:80", true),
        ("127.0.0.1.evil.example", false), ("evil.example:8080", false), ("localhost.evil.example", false), ("", false),
    ])
    func onlyTheMachinesOwnNamesAreAnswered(_ host: String, _ isOwn: Bool) {
        #expect(MapResponder.isOwn(host) == isOwn)
    }

    @Test func codingsAndTagsAreTakenAsTheHeadersSay() {
        #expect(AcceptEncoding.takes("gzip", "deflate, gzip;q=0.5") && AcceptEncoding.takes("gzip", "*"))
        #expect(!AcceptEncoding.takes("gzip", "gzip;q=0") && !AcceptEncoding.takes("gzip", nil))
        #expect(!AcceptEncoding.takes("gzip", "gzip; q=0.000, identity"))
        func matches(_ header: String) -> Bool? { EntityTags(header)?.matchWeakly(EntityTag("a")) }
        #expect(matches("W/\"a\", \"b\"") == true && matches("*") == true && matches("\"b\"") == false)
    }

    @Test func addressesOfServersAreKnown() {
        #expect(StyleHosts.host("https/a.example:8080/b/c?d") == "https/a.example:8080")
        #expect(StyleHosts.host("http/a.example?x") == "http/a.example")
        #expect(StyleHosts.host("https/a.example/\u{301}b") == "https/a.example")
        #expect(StyleHosts.host("tiles/demo/0/0/0") == nil && StyleHosts.host("https") == nil)
    }
}
