import Errors
import Foundation
import PMTiles
import Synchronization
import TestSupport
import Testing
import TileBodies
import Tiles
import Tilesets

@testable import Origins

/// A PMTiles archive on a web server.
@Suite(.timeLimit(.minutes(15)))
struct RemoteArchiveTests {
    /// Every tile of zooms 0 to 4 in leaves of 50 entries; the body of a tile is a layer called like it, and tiles of zoom 4 share bodies in runs of three.
    private static func archive(
        _ letter: String = "t", leafSize: Int = 50, code: UInt8 = 2, pack: ([UInt8]) -> [UInt8] = Gzip.compress
    ) -> [UInt8] {
        var entries: [PMTilesDirectory.Entry] = []
        var data: [UInt8] = []
        var id: UInt64 = 0
        while id < 341 {
            let body = pack(body(id, letter))
            let run: UInt64 = id >= 85 ? min(3, 341 - id) : 1
            entries.append(.init(tile: id, run: run, length: UInt64(body.count), offset: UInt64(data.count)))
            data += body
            id += run
        }
        var root: [PMTilesDirectory.Entry] = []
        var leaves: [UInt8] = []
        for start in stride(from: 0, to: entries.count, by: leafSize) {
            let part = Array(entries[start..<min(start + leafSize, entries.count)])
            let leaf = pack(PMTilesDirectory(entries: part).encoded)
            root.append(.init(tile: part[0].tile, run: 0, length: UInt64(leaf.count), offset: UInt64(leaves.count)))
            leaves += leaf
        }
        let packedRoot = pack(PMTilesDirectory(entries: root).encoded)
        let metadata = pack(Array(#"{"name":"made","vector_layers":[{"id":"a"}]}"#.utf8))
        var header = PMTilesHeader()
        header.root = .init(offset: 127, length: UInt64(packedRoot.count))
        header.metadata = .init(offset: header.root.end, length: UInt64(metadata.count))
        // Beyond the first 16 KiB, as in real archives.
        let gap = [UInt8](repeating: 0xEE, count: 20_000)
        header.leaves = .init(offset: header.metadata.end + UInt64(gap.count), length: UInt64(leaves.count))
        header.tiles = .init(offset: header.leaves.end, length: UInt64(data.count))
        (header.internalCompression, header.tileCompression, header.maxZoom) = (code, code, 4)
        header.format = .mvt
        header.edges = [-1_800_000_000, -850_000_000, 1_800_000_000, 850_000_000]
        return header.encoded + packedRoot + metadata + gap + leaves + data
    }

    private static func body(_ id: UInt64, _ letter: String) -> [UInt8] {
        let name = Array("\(letter)\(id)".utf8)
        return [0x1A, UInt8(name.count + 6), 0x0A, UInt8(name.count)] + name + [0x78, 0x02, 0x28, 0x40]
    }

    private static func tileset(_ url: String, prefix: String = "") async throws -> Tileset {
        try await OriginMetadata.resolve(
            try TilesetFile(source: prefix + url, folder: URL(filePath: "/")), environment: [:])
    }

    private static let all = Array(TileMask(full: 4).tiles(in: ZoomRange(min: 0, max: 4) ?? .all, under: .root))

    private static func fetch(
        _ origin: any TileOrigin, _ tiles: [TileID] = all, known: [TileID: TileValidators] = [:]
    ) async throws -> [TileID: FetchedTile.Outcome] {
        let found = Mutex<[TileID: FetchedTile.Outcome]>([:])
        try await origin.fetch(tiles, known: known) { group in
            found.withLock { found in
                for tile in group {
                    #expect(found[tile.tile] == nil, "\(tile.tile) was delivered twice")
                    found[tile.tile] = tile.outcome
                }
            }
        }
        return found.withLock(\.self)
    }

    private static func bodies(_ found: [TileID: FetchedTile.Outcome]) -> [TileID: [UInt8]] {
        found.compactMapValues { if case .stored(let body, _, _) = $0 { body } else { nil } }
    }

    @Test(arguments: RangeServer.Manner.Validator.allCases, ["", "pmtiles:"])
    func tilesAreThoseOfTheSameArchiveOnDisk(_ validator: RangeServer.Manner.Validator, _ prefix: String) async throws {
        let scratch = try Scratch()
        let file = scratch.folder.appending(path: "a.pmtiles")
        try Data(Self.archive()).write(to: file)
        let onDisk = try await OriginMetadata.resolve(
            try TilesetFile(source: "pmtiles:\(file.path)", folder: scratch.folder), environment: [:])
        let expected = Self.bodies(try await Self.fetch(try await OriginFactory.open(onDisk, environment: [:])))
        #expect(expected.count == 341)

        var manner = RangeServer.Manner()
        manner.validator = validator
        manner.redirects = validator == .lastModified
        let server = try RangeServer(Self.archive(), manner)
        defer { server.stop() }
        let tileset = try await Self.tileset(server.url, prefix: prefix)
        #expect(tileset.id == "planet" && tileset.name == "made" && tileset.zooms == onDisk.zooms)
        #expect(tileset.vectorLayers == onDisk.vectorLayers && tileset.originName != nil)
        let again = try Tileset(canonicalJSON: tileset.canonicalJSON)
        #expect(again == tileset)
        let asked = server.requests.count
        let origin = try await OriginFactory.open(tileset, environment: [:])
        let found = Self.bodies(try await Self.fetch(origin))
        #expect(found == expected)
        // The head, all leaves in one, all bodies in one.
        #expect(server.requests.count - asked == (manner.redirects ? 6 : 3))
        let pinned = try #require(origin as? any PinnedOrigin)
        #expect(try await !pinned.hasChanged(since: .now) && !pinned.isStale)
    }

    @Test(arguments: [UInt8(1), 2, 3, 4])
    func everyCodingGivesTheSameTiles(_ code: UInt8) async throws {
        let expected = Dictionary(
            uniqueKeysWithValues: Self.all.map { tile in
                let id = tile.hilbertID
                return (tile, Gzip.compress(Self.body(id >= 85 ? id - (id - 85) % 3 : id, "t")))
            })
        let pack: ([UInt8]) -> [UInt8] =
            switch code {
            case 1: { $0 }
            case 2: Gzip.compress
            case 3: StoredStreams.brotli
            default: StoredStreams.zstd
            }
        let archive = Self.archive(code: code, pack: pack)
        let scratch = try Scratch()
        let file = scratch.folder.appending(path: "a.pmtiles")
        try Data(archive).write(to: file)
        let server = try RangeServer(archive)
        defer { server.stop() }
        for source in ["pmtiles:\(file.path)", server.url] {
            let tileset = try await Self.tileset(source)
            #expect(tileset.name == "made", "the metadata is packed too")
            let found = try await Self.fetch(try await OriginFactory.open(tileset, environment: [:]))
            #expect(Self.bodies(found) == expected, "\(source)")
        }
    }

    @Test func onlyChosenLayersComeOutOfAnyArchive() async throws {
        let scratch = try Scratch()
        let file = scratch.folder.appending(path: "a.pmtiles")
        try Data(Self.archive()).write(to: file)
        let server = try RangeServer(Self.archive())
        defer { server.stop() }
        for source in ["pmtiles:\(file.path)", server.url] {
            var tileset = try await Self.tileset(source)
            tileset.layers = ["t2", "t85"]
            let origin = try await OriginFactory.open(tileset, environment: [:])
            let found = try await Self.fetch(origin)
            let kept = Self.bodies(found).keys.map(\.hilbertID).sorted()
            // Three tiles of zoom 4 share the body with layer t85.
            #expect(kept == [2, 85, 86, 87] && found.count == 341, "\(source): \(kept)")
            #expect((origin as? RemoteArchiveOrigin)?.tellsSizes != true)
        }
    }

    @Test func aCodingThatIsNotKnownIsNamed() async throws {
        let server = try RangeServer(Self.archive(code: 9))
        defer { server.stop() }
        let error = await #expect(throws: OriginsError.self) { try await Self.tileset(server.url) }
        #expect(error?.code == .unsupported && error?.message.contains("code 9") == true, "\(error?.message ?? "")")
    }

    @Test func fewTilesCostTheirBytesAndLeavesAreKept() async throws {
        let server = try RangeServer(Self.archive())
        defer { server.stop() }
        let origin = try await OriginFactory.open(try await Self.tileset(server.url), environment: [:])
        let before = (server.requests.count, server.sent)
        let tiles = [Self.all[0], Self.all[1]]
        #expect(Self.bodies(try await Self.fetch(origin, tiles)).count == 2)
        #expect(server.requests.count - before.0 == 2 && server.sent - before.1 < 600)
        #expect(Self.bodies(try await Self.fetch(origin, tiles)).count == 2)
        #expect(server.requests.count - before.0 == 3, "the leaf is known")
    }

    @Test func withoutAValidatorEverythingIsReadAgain() async throws {
        var manner = RangeServer.Manner()
        manner.validator = .none
        let server = try RangeServer(Self.archive(), manner)
        defer { server.stop() }
        let found = try await Self.fetch(
            try await OriginFactory.open(try await Self.tileset(server.url), environment: [:]))
        #expect(
            found.values.allSatisfy { outcome in
                if case .stored(_, let etag, _) = outcome { etag == nil } else { false }
            })
    }

    @Test func whatCameFromThisVersionIsNotReadAgain() async throws {
        let server = try RangeServer(Self.archive())
        defer { server.stop() }
        let tileset = try await Self.tileset(server.url)
        let first = try await Self.fetch(try await OriginFactory.open(tileset, environment: [:]))
        let known = first.compactMapValues { outcome -> TileValidators? in
            guard case .stored(_, let etag, _) = outcome else { return nil }
            return TileValidators(etag: etag, lastModified: nil)
        }
        let origin = try await OriginFactory.open(tileset, environment: [:])
        let asked = server.requests.count
        let second = try await Self.fetch(origin, known: known)
        #expect(second.values.allSatisfy { $0 == .unchanged } && second.count == 341)
        #expect(server.requests.count == asked)
        // Another version is read.
        server.replace(with: Self.archive("u"))
        let third = try await Self.fetch(try await OriginFactory.open(tileset, environment: [:]), known: known)
        #expect(Self.bodies(third).count == 341)
    }

    /// Replaced at each request in turn: what was delivered before is of the first version, and then nothing more comes.
    @Test(arguments: RangeServer.Manner.Validator.allCases, [false, true])
    func aReplacedArchiveIsNoticed(_ validator: RangeServer.Manner.Validator, heedsConditions: Bool) async throws {
        var manner = RangeServer.Manner()
        (manner.validator, manner.heedsConditions) = (validator, heedsConditions)
        for moment in 0..<4 {
            let server = try RangeServer(Self.archive(), manner)
            defer { server.stop() }
            let origin = try await OriginFactory.open(try await Self.tileset(server.url), environment: [:])
            let pinned = try #require(origin as? any PinnedOrigin)
            // The same length, so that only validators or a byte of the first 16 KiB differ.
            let other = Self.archive("u").enumerated().map { $0 == 15_000 ? 0xDD : $1 }
            server.replace(with: other, afterRequests: moment)
            let found = Mutex<[TileID: FetchedTile.Outcome]>([:])
            let half = Self.all.count / 2
            do {
                for part in [Self.all[..<half], Self.all[half...]] {
                    let new = try await Self.fetch(origin, Array(part))
                    found.withLock { $0.merge(new) { $1 } }
                }
                let hasChanged = try await pinned.hasChanged(since: .now)
                if moment < 3 { #expect(hasChanged) }
            } catch let error as OriginsError {
                #expect(error.code == .busy && error.message.contains("replaced") || validator == .none, "\(error)")
            }
            let bodies = Self.bodies(found.withLock(\.self))
            let old = bodies.filter { $0.value == Gzip.compress(Self.body($0.key.hilbertID, "t")) }
            if validator != .none { #expect(!bodies.isEmpty || moment < 2) }
            if try await !pinned.hasChanged(since: .now) { #expect(old.count >= 85) }
        }
    }

    @Test func theServerIsAskedUnlessItHasToldLately() async throws {
        let server = try RangeServer(Self.archive())
        defer { server.stop() }
        let origin = try await OriginFactory.open(try await Self.tileset(server.url), environment: [:])
        let pinned = try #require(origin as? any PinnedOrigin)
        let begin = ContinuousClock.now
        _ = try await Self.fetch(origin)
        let asked = server.requests.count
        #expect(try await !pinned.hasChanged(since: begin) && server.requests.count == asked)
        #expect(try await !pinned.hasChanged(since: .now) && server.requests.count == asked + 1)
        server.replace(with: Self.archive("u"))
        #expect(try await !pinned.hasChanged(since: begin))
        #expect(try await pinned.hasChanged(since: .now) && pinned.isStale)
    }

    @Test func whatMayNotBeAskedIsNotAsked() async throws {
        let server = try RangeServer(Self.archive())
        defer { server.stop() }
        let host = server.url.replacing("http://", with: "")
        for (text, word) in [
            ("http://user:hidden@\(host)", "user information"), ("\(server.url)?sig=hidden", "secret"),
            ("https://tile.openstreetmap.org/planet.pmtiles", "forbids"),
            ("https://maps.example.com/planet.pmtiles", "contact"), ("\(server.url)?sig={key}", "key"),
        ] {
            let error = await #expect(throws: OriginsError.self, "\(text)") { _ = try await Self.tileset(text) }
            #expect(error?.message.contains(word) == true, "\(text): \(error?.message ?? "")")
            #expect(error?.message.contains("hidden") == false)
        }
        #expect(server.requests.isEmpty)
    }

    @Test func aServerWithoutRangesIsRefusedByName() async throws {
        var manner = RangeServer.Manner()
        manner.ignoresRange = true
        let server = try RangeServer(Self.archive(), manner)
        defer { server.stop() }
        let error = await #expect(throws: OriginsError.self) { _ = try await Self.tileset(server.url) }
        #expect(error?.code == .unsupported && error?.message.contains("whole file") == true)
    }

    @Test(arguments: [
        ("text/html; charset=utf-8", "text/html"), ("application/xml", "application/xml"),
        ("application/json", "application/json"),
    ])
    func aPageInPlaceOfAnArchiveIsNamed(_ type: String, _ word: String) async throws {
        for size in [40, 50_000_000] {
            let server = try ScriptedServer { _ in
                let head = "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(size)\r\n\r\n"
                return .raw(Array(head.utf8) + [UInt8](repeating: 0x3C, count: min(size, 4_096)))
            }
            defer { server.stop() }
            let url = "\(server.url)/planet.pmtiles"
            let error = await #expect(throws: OriginsError.self) { _ = try await Self.tileset(url) }
            #expect(error?.code == .unsupported && error?.message.contains(word) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("whole file") == false)
        }
    }

    /// A server that begins every part at the same byte, and one that cuts all parts.
    @Test func wrongPartsAreNotRequestedForAMinute() async throws {
        var manner = RangeServer.Manner()
        manner.isShifted = true
        let server = try RangeServer(Self.archive(), manner)
        defer { server.stop() }
        let origin = try await OriginFactory.open(try await Self.tileset(server.url), environment: [:])
        let asked = server.requests.count
        let start = ContinuousClock.now
        let error = await #expect(throws: OriginsError.self) { _ = try await Self.fetch(origin) }
        #expect(
            error?.code == .unsupported && error?.message.contains("other bytes") == true, "\(error?.message ?? "")")
        #expect(server.requests.count - asked <= 5 && .now - start < .seconds(20))
    }

    /// Statuses that a signed address gets when it expires, or an archive that is deleted.
    @Test(arguments: [400, 401, 403, 404, 410])
    func aServerThatBeginsToRefuseIsAskedThreeTimes(_ status: Int) async throws {
        let archive = Self.archive()
        let server = try RangeServer(archive)
        defer { server.stop() }
        let origin = try await OriginFactory.open(try await Self.tileset(server.url), environment: [:])
        server.refuse(with: status)
        let asked = server.requests.count
        let error = await #expect(throws: OriginsError.self) { _ = try await Self.fetch(origin) }
        #expect(error?.code == .refused && error?.message.contains("answered \(status)") == true)
        // The refused one, and twice whether it was meant.
        #expect(server.requests.count - asked == 3)
        // A single refusal is a fault on the way.
        let again = try RangeServer(archive)
        defer { again.stop() }
        let other = try await OriginFactory.open(try await Self.tileset(again.url), environment: [:])
        again.refuse(with: status, times: 1)
        let passing = await #expect(throws: OriginsError.self) { _ = try await Self.fetch(other) }
        #expect(passing?.code == .unreadable)
        #expect(Self.bodies(try await Self.fetch(other)).count == 341)
    }

    @Test(arguments: [0, 1, 100, 126, 127, 200, 19_000])
    func aCutArchiveIsRefused(_ size: Int) async throws {
        let server = try RangeServer(Array(Self.archive().prefix(size)))
        defer { server.stop() }
        await #expect(throws: OriginsError.self) { _ = try await Self.tileset(server.url) }
    }

    /// Any damage of the directories ends in an error or in failed tiles, never in a trap.
    @Test func damagedDirectoriesNeverTrap() async throws {
        let good = Self.archive()
        let tileset: Tileset
        do {
            let server = try RangeServer(good)
            defer { server.stop() }
            tileset = try await Self.tileset(server.url)
        }
        var state: UInt64 = 11
        for _ in 0..<60 {
            var bytes = good
            for _ in 0..<3 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let place = Int(state >> 33) % 700
                bytes[place < 400 ? place : 20_000 + place] = UInt8(truncatingIfNeeded: state >> 20)
            }
            let server = try RangeServer(bytes)
            defer { server.stop() }
            var asking = tileset
            asking.source = TileSource(.remotePMTiles, server.url)
            do {
                let origin = try await OriginFactory.open(asking, environment: [:])
                #expect(try await Self.fetch(origin).count == 341)
            } catch is OriginsError {}
        }
    }

    @Test func addressesOfArchivesAreToldFromOthers() throws {
        func source(_ text: String) throws -> TileSource {
            try TilesetFile(source: text, folder: URL(filePath: "/data")).source
        }
        let url = "https://maps.example/2026/planet.pmtiles?sig={key}"
        #expect(try source(url) == TileSource(.remotePMTiles, url))
        #expect(try source("pmtiles:http://10.0.0.1/x") == TileSource(.remotePMTiles, "http://10.0.0.1/x"))
        #expect(try source("pmtiles:planet.pmtiles") == TileSource(.pmtiles, "/data/planet.pmtiles"))
        #expect(try source("https://maps.example/{z}/{x}/{y}.pmtiles").scheme == .templates)
        #expect(try source("https://maps.example/tiles.json").scheme == .tileJSON)
        #expect(throws: TilesetsError.self) { try source("mbtiles:https://maps.example/a.mbtiles") }
    }
}
