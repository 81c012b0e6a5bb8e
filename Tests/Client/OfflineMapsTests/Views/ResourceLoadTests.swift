import Foundation
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// Resources of a map from a real server, kept in the ambient cache.
@Suite(.timeLimit(.minutes(15)))
struct ResourceLoadTests {
    private let scratch: StoreScratch
    private let permission = NetworkPermission()
    private let web: WebResources

    init() throws {
        scratch = try StoreScratch()
        web = WebResources(AmbientCache(scratch.folder, limit: 4 << 20), permission, fetcher: URLSessionFetcher())
    }

    private func resolver(_ units: [InstalledFile] = []) throws -> ResourceResolver {
        try ResourceResolver(scratch.folder, units, tiles: TileReader(scratch.folder, units), web: web)
    }

    private func url(_ server: ScriptedServer, _ path: String) throws -> URL {
        try #require(URL(string: server.url + path))
    }

    @Test func whatWasLoadedIsThereOffline() async throws {
        let server = try ScriptedServer { request in
            request.path.hasSuffix("/style.json")
                ? .reply(
                    200, headers: [("Content-Type", "application/json"), ("ETag", "\"1\"")], body: Array("{}".utf8))
                : .reply(404)
        }
        defer { server.stop() }
        let style = try url(server, "/style.json")
        let first = try #require(try await resolver().load(style))
        #expect(first.body == Data("{}".utf8) && first.mediaType == "application/json" && first.etag == "\"1\"")
        #expect(try resolver().resource(style) == nil)
        permission.set(isForcedOffline: true)
        web.ambient.expire()
        let second = try #require(try await resolver().load(style))
        #expect(second.body == first.body && second.isStale && server.requests.count == 1)
        #expect(try await resolver().load(try url(server, "/other.json")) == nil)
        permission.set(isForcedOffline: false)
        // 404: a document that is not there is nothing, a tile that is not there is empty.
        #expect(try await resolver().load(try url(server, "/other.json")) == nil)
        #expect(try await resolver().load(try url(server, "/3/1/2.png"))?.isEmpty == true)
        #expect(server.requests.count == 3)
    }

    @Test func installedResourcesNeedNoServer() async throws {
        let server = try ScriptedServer { _ in
            .reply(200, headers: [("Content-Type", "image/png")], body: [0x89, 0x50, 0x4E, 0x47])
        }
        defer { server.stop() }
        var installed = try scratch.unit("EE")
        installed.template = server.url + "/{z}/{x}/{y}.pbf"
        let resolver = try resolver([installed])
        #expect(try await resolver.load(try url(server, "/7/72/37.pbf"))?.coding == .gzip && server.requests.isEmpty)
        // A tile that is not installed comes from the server, and is then a tile of the tileset.
        #expect(try await resolver.load(try url(server, "/7/0/0.pbf"))?.mediaType == "image/png")
        #expect(try await resolver.load(served: "tiles/demo/7/0/0")?.mediaType == "image/png")
        #expect(server.requests.count == 1)
        let tile = try #require(TileID(zoom: 7, x: 0, y: 0))
        #expect(web.ambient.entry(.init(tileset: "demo", tile: tile)) != nil)
    }

    @Test func aFailureIsNamed() async throws {
        let server = try ScriptedServer { _ in .reply(403) }
        defer { server.stop() }
        let address = try url(server, "/style.json")
        let error = await #expect(throws: StoreError.self) { _ = try await resolver().load(address) }
        #expect(error?.failure == .notAllowed)
        #expect(try await resolver().load(try #require(URL(string: "file:///etc/hosts"))) == nil)
    }

    @Test(
        arguments: [
            ("https://h/a/3/1/2.png", .tile), ("https://h/3/1/2@2x.webp?k=1", .tile), ("https://h/3/1/2", .tile),
            ("https://h/Open%20Sans/0-255.pbf", .glyphs), ("https://h/sprite@2x.json", .sprite),
            ("https://h/a.png", .image),
            ("https://h/style.json", .style), ("https://h/tiles.json", .source), ("https://h/", .other),
        ] as [(String, ResourceRequest.Kind)])
    func kindsAreSeenFromAddresses(_ address: String, _ kind: ResourceRequest.Kind) throws {
        #expect(ResourceRequest.Kind(guessing: try #require(URL(string: address))) == kind)
    }
}
