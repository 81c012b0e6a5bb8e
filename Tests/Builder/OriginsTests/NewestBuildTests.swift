import Errors
import Foundation
import Synchronization
import TestSupport
import Testing
import TextFormats
import TileBodies
import Tiles

@testable import Origins
@testable import Tilesets

/// Newest builds, of real servers that answer as those of the projects do.
@Suite(.timeLimit(.minutes(15)))
struct NewestBuildTests {
    private static func file(_ keys: [String: JSONValue]) throws -> TilesetFile {
        let text = String(decoding: try JSONEncoder().encode(JSONValue.object(keys)), as: UTF8.self)
        return try TilesetFile(text: text, name: "t.json", folder: URL(filePath: "/"))
    }

    private static func preset(_ name: String, _ server: BuildServer) throws -> TilesetFile {
        try file(try #require(LatestPreset.all.first { $0.name == name }).keys(at: server.url))
    }

    private static func found(_ file: TilesetFile) async throws -> (tileset: Tileset, version: String?) {
        let found = try await OriginMetadata.pinned(file, environment: [:])
        return (found.tileset, found.version)
    }

    private static func error(_ file: TilesetFile) async -> OriginsError? {
        await #expect(throws: OriginsError.self) { try await found(file) }
    }

    private static func protomaps(_ server: BuildServer, size: Int, md5: String = "") {
        let sum = md5.isEmpty ? "" : #","md5sum":"\#(md5)""#
        server.put(
            "/builds.json",
            """
            [{"key":"20261124.pmtiles","size":\(size),"uploaded":"2026-11-24T09:02:00Z","version":"4.15.2"\(sum)},
             {"key":"20261116.pmtiles","size":1,"uploaded":"2026-11-16T09:00:00Z","version":"4.15.1"}]
            """)
    }

    @Test func protomapsGivesTheArchiveOfItsIndex() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        let archive = SampleArchive.bytes(layer: "new")
        server.put("/20261124.pmtiles", archive, etag: "a")
        Self.protomaps(server, size: archive.count)
        let (tileset, version) = try await Self.found(try Self.preset("protomaps", server))
        #expect(tileset.source == TileSource(.remotePMTiles, "\(server.url)/20261124.pmtiles"))
        #expect(tileset.build?.name == "20261124" && tileset.build?.date == "2026-11-24")
        #expect(tileset.id == "protomaps" && tileset.zooms == ZoomRange(min: 0, max: 2))
        #expect(version?.hasPrefix("\(archive.count) bytes with ETag \"a\", build ") == true, "\(version ?? "")")
        // The same validators at another address are those of another file.
        server.put("/20261125.pmtiles", archive, etag: "a")
        server.put("/builds.json", #"[{"key":"20261125.pmtiles"}]"#)
        let other = try await Self.found(try Self.preset("protomaps", server))
        #expect(other.version?.hasPrefix("\(archive.count) bytes with ETag \"a\"") == true && other.version != version)
    }

    @Test func aWrongSizeOrChecksumIsRefused() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        let archive = SampleArchive.bytes(layer: "new")
        let sum = String(repeating: "a", count: 32)
        server.put("/20261124.pmtiles", archive, etag: sum)
        Self.protomaps(server, size: archive.count + 1)
        let size = await Self.error(try Self.preset("protomaps", server))
        #expect(size?.message.contains("the index says \(archive.count + 1)") == true, "\(size?.message ?? "")")
        Self.protomaps(server, size: archive.count, md5: String(repeating: "b", count: 32))
        let md5 = await Self.error(try Self.preset("protomaps", server))
        #expect(md5?.message.contains("has the MD5 \(sum)") == true, "\(md5?.message ?? "")")
        Self.protomaps(server, size: archive.count, md5: sum)
        #expect(try await Self.found(try Self.preset("protomaps", server)).tileset.build?.md5 == sum)
    }

    @Test func aListedBuildThatIsNotThereYetIsPassedOver() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        server.put("/b.json", #"[{"key":"1"},{"key":"2"},{"key":"3"},{"key":"4"},{"key":"5"}]"#)
        let file = try Self.file([
            "latest": .object([
                "index": .string("\(server.url)/b.json"), "url": .string("\(server.url)/{build}.pmtiles"),
            ])
        ])
        let missing = await Self.error(file)
        #expect(missing?.message.contains("none of the 3 newest builds is there") == true, "\(missing?.message ?? "")")
        #expect(server.requests.map(\.path) == ["/b.json", "/5.pmtiles", "/4.pmtiles", "/3.pmtiles"])
        server.put("/4.pmtiles", SampleArchive.bytes(layer: "four"))
        #expect(try await Self.found(file).tileset.build?.name == "4")
    }

    @Test func aDateIsLookedForWithTenRequests() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        let file = try Self.file(["latest": .string("\(server.url)/{date}.pmtiles")])
        let missing = await Self.error(file)
        #expect(missing?.code == .unreachable && server.requests.count == 10, "\(missing?.message ?? "")")
        // 2026-11-27.
        let lookup = try NewestBuild(file, [:], now: 1_795_780_800)
        server.put("/20261122.pmtiles", SampleArchive.bytes(layer: "old"))
        let found = try await lookup.find(unlike: nil)
        #expect(found?.metadata?.build?.name == "20261122" && server.requests.count == 16)
    }

    private static func tileJSON(_ server: BuildServer, _ version: String) -> String {
        #"{"tilejson":"3.0.0","tiles":["\#(server.url)/planet/\#(version)/{z}/{x}/{y}.pbf"],"minzoom":0,"maxzoom":14,"vector_layers":[{"id":"water"}],"attribution":"OpenFreeMap"}"#
    }

    @Test func openFreeMapIsPinnedAndItsTrapIsSeen() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        server.put("/planet", Self.tileJSON(server, "20261118_001001_pt"))
        // Whatever the version is, the newest tiles come, with 200.
        server.answerElse { $0.hasPrefix("/planet/") ? SampleArchive.tile(layer: "any") : nil }
        let (tileset, version) = try await Self.found(try Self.preset("openfreemap", server))
        #expect(tileset.build?.name == "20261118_001001_pt" && tileset.build?.date == "2026-11-18")
        #expect(version == "build 20261118_001001_pt" && version == tileset.build?.version)
        #expect(tileset.source.address.contains("/planet/20261118_001001_pt/{z}"))
        let origin = try await OriginFactory.open(tileset, environment: [:])
        let pinned = try #require(origin as? any PinnedOrigin)
        #expect(pinned.version == version)
        let begin = ContinuousClock.now
        let count = Mutex(0)
        try await pinned.fetch([.root]) { tiles in count.withLock { $0 += tiles.count } }
        #expect(try await !pinned.hasChanged(since: begin) && count.withLock(\.self) == 1)
        server.put("/planet", Self.tileJSON(server, "20261125_001001_pt"))
        try await pinned.fetch([.root]) { tiles in count.withLock { $0 += tiles.count } }
        #expect(try await pinned.hasChanged(since: begin) && pinned.isStale)
        let again = try #require(try await OriginFactory.open(tileset, environment: [:]) as? any PinnedOrigin)
        #expect(again.version == "build 20261125_001001_pt")
        #expect(
            server.requests.filter { $0.path == "/planet" }.allSatisfy { $0.headers["cache-control"] == "no-cache" })
    }

    @Test func versaTilesIsPinnedByItsChecksum() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        let sum = String(repeating: "0af1", count: 16)
        server.put("/osm.versatiles.sha256", "\(sum)  osm.versatiles\n")
        let (tileset, version) = try await Self.found(try Self.preset("versatiles", server))
        #expect(version == "build \(sum)" && tileset.build?.date == nil)
        #expect(tileset.source == TileSource(.templates, ["\(server.url)/tiles/osm/{z}/{x}/{y}"]))
    }

    @Test func aTextCanNameAnArchive() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        server.put("/planet.txt", "20261118\n")
        server.put("/20261118.pmtiles", SampleArchive.bytes(layer: "text"))
        let latest = JSONValue.object([
            "text": .string("\(server.url)/planet.txt"), "url": .string("\(server.url)/{build}.pmtiles"),
        ])
        let (tileset, _) = try await Self.found(try Self.file(["latest": latest]))
        #expect(tileset.build?.name == "20261118" && tileset.build?.document == nil)
    }

    @Test func mapterhornGivesTheArchivesOfItsVersion() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        var archive = SampleArchive.bytes(layer: "dem", zoom: 2)
        // Pictures: type WebP.
        archive[99] = 4
        server.put("/planet.pmtiles", archive)
        server.put(
            "/download_urls.json",
            """
            {"version":"0.0.13","items":[{"name":"planet.pmtiles","url":"\(server.url)/planet.pmtiles","md5sum":"d4","size":\(archive.count),
             "min_lon":-180,"min_lat":-85.05,"max_lon":180,"max_lat":85.05,"min_zoom":0,"max_zoom":2},
             {"name":"6-33-22.pmtiles","url":"\(server.url)/6-33-22.pmtiles","size":9,"min_zoom":13,"max_zoom":17}]}
            """)
        let (tileset, version) = try await Self.found(try Self.preset("mapterhorn", server))
        #expect(tileset.build?.name == "0.0.13" && version == nil && tileset.encoding == .terrarium)
        #expect(try tileset.archives().map(\.size) == [UInt64(archive.count), 9] && tileset.tileSize == 512)
        // The index of this build names an archive: without it the build is not there any more.
        let area = TileMask(tiles: [try #require(TileID("13/4224/2816"))], maxZoom: 13)
        let deep = try tileset.narrowed(to: area, zooms: try #require(ZoomRange(min: 13, max: 13)))
        let gone = await #expect(throws: OriginsError.self) { try await OriginFactory.open(deep, environment: [:]) }
        #expect(gone?.saysGone(for: deep) == true, "\(gone?.message ?? "")")
    }

    @Test func theKnownBuildCostsTheDocumentAndOneHeader() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        let archive = SampleArchive.bytes(layer: "new", padding: 20_000)
        server.put("/20261124.pmtiles", archive, etag: "a")
        Self.protomaps(server, size: archive.count)
        let file = try Self.preset("protomaps", server)
        let (tileset, version) = try await Self.found(file)
        let known = KnownBuild(try #require(tileset.build), version: version)
        let before = server.requests.count
        #expect(try await OriginMetadata.newest(file, unlike: known, environment: [:]) == nil)
        #expect(server.requests.dropFirst(before).map(\.path) == ["/builds.json", "/20261124.pmtiles"])
        #expect(server.requests.last?.headers["range"] == "bytes=0-16383")
        // An older one does not follow.
        server.put("/20261116.pmtiles", archive)
        server.put("/builds.json", #"[{"key":"20261116.pmtiles"}]"#)
        let older = await #expect(throws: OriginsError.self) {
            try await OriginMetadata.newest(file, unlike: known, environment: [:])
        }
        #expect(older?.message.contains("older than '20261124'") == true, "\(older?.message ?? "")")
        Self.protomaps(server, size: archive.count)
        // The same name with other bytes is another build.
        server.put("/20261124.pmtiles", archive, etag: "b")
        #expect(
            try await OriginMetadata.newest(file, unlike: known, environment: [:])?.version?.contains("\"b\"") == true)
    }
}
