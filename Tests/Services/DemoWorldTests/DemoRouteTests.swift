import TestSupport
import Testing
import Tiles

@testable import DemoWorld
@testable import WorldTiles

struct DemoRouteTests {
    private func route(_ path: String, _ query: String? = nil) -> DemoRoute { DemoRoute(path: path, query: query) }

    @Test func pathsAreRead() throws {
        let tile = try #require(TileID(zoom: 3, x: 4, y: 2))
        #expect(route("/tiles/3/4/2.pbf") == .tile(tile, language: nil))
        #expect(route("/tiles/3/4/2.mvt") == .tile(tile, language: nil))
        #expect(route("/de/tiles/3/4/2.pbf") == .tile(tile, language: "de"))
        #expect(route("/de/tiles/3/4/2.pbf", "a=b&language=et") == .tile(tile, language: "et"))
        #expect(route("/tiles/3/4/2.pbf", "lang=fr") == .tile(tile, language: "fr"))
        #expect(route("/") == .index)
        #expect(route("/healthz") == .health)
        #expect(route("/ru/tiles.json") == .tileJSON(language: "ru"))
        #expect(route("/style.json") == .style(language: nil))
        #expect(route("/html/tiles/1/2/3.pbf") == .htmlPage)
    }

    @Test func tilesBeyondTheWorldAreOutOfRange() {
        for path in ["/tiles/23/0/0.pbf", "/tiles/0/1/0.pbf", "/tiles/3/8/0.pbf", "/tiles/22/4194304/0.pbf"] {
            #expect(route(path) == .outOfRange, "\(path)")
        }
    }

    @Test(arguments: [
        "/tiles", "/tiles/", "/tiles/1/1", "/tiles/a/b/c.pbf", "/tiles/-1/0/0.pbf", "/tiles/+1/0/0.pbf",
        "/tiles/1/0/0", "/tiles/1/0/0.png", "/tiles/1/0/.pbf", "/tiles/1/0/99999999999999999999.pbf",
        "/tiles/0x1/0/0.pbf", "/tiles/1/ 1/0.pbf", "/tiles/1/%31/0.pbf", "/tiles/١/0/0.pbf", "/tiles/1/0/0.pbf/more",
    ])
    func whatIsNoTileIsMalformed(path: String) {
        guard case .malformed = route(path) else {
            Issue.record("\(path) became \(route(path))")
            return
        }
    }

    @Test func unknownLanguagesAreMalformedAndUnknownPathsAreNotFound() {
        guard case .malformed = route("/tiles.json", "language=xx") else {
            Issue.record("an unknown language was taken")
            return
        }
        for path in ["/xx/tiles.json", "/favicon.ico", "//", "/../etc/passwd", "", "*", "/de/de/tiles.json"] {
            #expect(route(path) == .notFound || route(path) == .index, "\(path)")
        }
    }

    @Test func hostilePathsNeverTrap() {
        var dice = SplitMix(state: 3)
        let parts = [
            "/", "tiles", "%", "de", "0", "22", ".pbf", "\u{0}", "é", "999999999999999999999", "-", "?", "=", "&",
        ]
        for _ in 0..<20_000 {
            let path = (0..<Int.random(in: 0...12, using: &dice)).map { _ in parts.randomElement(using: &dice) ?? "" }
            _ = route(path.joined(), path.reversed().joined())
        }
        _ = route(String(repeating: "/tiles", count: 10_000), String(repeating: "language=&", count: 10_000))
    }
}
