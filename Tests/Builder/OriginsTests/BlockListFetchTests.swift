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

/// Plans and fetches over an archive with a list of its blocks beside it, from a real server.
@Suite(.timeLimit(.minutes(15)))
struct BlockListFetchTests {
    private static let all = Array(TileMask(full: 5).tiles(in: .all, under: .root))
    private static let first = BlockArchive(zoom: 5) { _ in 0 }
    /// Some 3 % of the tiles have changed, in stretches of 16 and alone.
    private static let isChanged: @Sendable (UInt64) -> Bool = { $0 / 16 % 40 == 7 || $0 % 211 == 100 }
    private static let second = BlockArchive(zoom: 5) { isChanged($0) ? 1 : 0 }

    private static func origin(_ server: BuildServer, _ name: String) async throws -> RemoteArchiveOrigin {
        let text = "id: planet\nurl: \(server.url)/\(name).pmtiles\nsync: true\n"
        let tileset = try await OriginMetadata.resolve(
            try TilesetFile(text: text, name: "t.yaml", folder: URL(filePath: "/")), environment: [:])
        return try #require(try await OriginFactory.open(tileset, environment: [:]) as? RemoteArchiveOrigin)
    }

    private static func fetch(
        _ origin: RemoteArchiveOrigin, _ ranges: PlannedRanges, known: [TileID: TileValidators] = [:]
    ) async throws -> [TileID: FetchedTile] {
        let found = Mutex<[TileID: FetchedTile]>([:])
        try await origin.fetch(Set(all), of: ranges, at: 0..<ranges.tiles, known: known) { group in
            found.withLock { found in
                for tile in group {
                    #expect(found[tile.tile] == nil, "\(tile.tile) was delivered twice")
                    found[tile.tile] = tile
                }
            }
        }
        return found.withLock(\.self)
    }

    /// The validators and bodies of stored tiles.
    private static func kept(
        _ tiles: [TileID: FetchedTile]
    ) -> (validators: [TileID: TileValidators], bodies: [TileID: [UInt8]]) {
        var (validators, bodies): ([TileID: TileValidators], [TileID: [UInt8]]) = ([:], [:])
        for (tile, fetched) in tiles {
            guard case .stored(let body, let etag, _) = fetched.outcome else { continue }
            bodies[tile] = body
            validators[tile] = TileValidators(etag: etag, lastModified: nil)
        }
        return (validators, bodies)
    }

    @Test(arguments: [0, 3_000])
    func onlyTilesInChangedBlocksAreRequested(blockSize: Int) async throws {
        let server = try BuildServer()
        defer { server.stop() }
        server.put("/1.pmtiles", Self.first.bytes)
        server.put("/1.pmtiles.sync", Self.first.list(blockSize: blockSize))
        server.put("/2.pmtiles", Self.second.bytes)
        server.put("/2.pmtiles.sync", Self.second.list(blockSize: blockSize))
        let old = try await Self.origin(server, "1")
        let plan = try await old.plan(Self.all) {}
        #expect(plan.note.hasPrefix("used: "), "\(plan.note)")
        // Another worker makes the same plan, and it is read as it was written.
        #expect(try await Self.origin(server, "1").plan(Self.all.shuffled()) {}.encoded == plan.encoded)
        #expect(PlannedRanges(plan.encoded)?.plan == plan.plan && !plan.plan.blocks.isEmpty)
        let kept = Self.kept(try await Self.fetch(old, plan))
        #expect(kept.bodies.count == Self.all.count)

        let new = try await Self.origin(server, "2")
        let next = try await new.plan(Self.all) {}
        let sent = server.sent
        let found = try await Self.fetch(new, next, known: kept.validators)
        let received = server.sent - sent
        let changed = Self.second.entries.filter { Self.isChanged($0.tile) }.reduce(0) { $0 + $1.body.count }
        let all = Self.second.entries.reduce(0) { $0 + $1.body.count }
        #expect(
            received >= changed && received < (blockSize == 0 ? changed * 11 / 10 : all / 4), "\(received) \(changed)")
        let notSent = found.values.reduce(0) { $0 + ($1.notSent ?? 0) }
        #expect(notSent + received >= all && notSent <= all - changed)
        // What is not sent is what a worker without kept tiles gets.
        let whole = Self.kept(try await Self.fetch(try await Self.origin(server, "2"), next))
        for (tile, fetched) in found {
            switch fetched.outcome {
            case .unchanged:
                #expect(kept.bodies[tile] == whole.bodies[tile])
                #expect(kept.validators[tile] == whole.validators[tile], "a shard with it stays the same")
            case .stored(let body, _, _): #expect(body == whole.bodies[tile])
            case .empty, .failed: Issue.record("\(tile): \(fetched.outcome)")
            }
        }
    }

    private static let wrong: [(what: String, list: [UInt8]?, note: String)] = [
        ("missing", nil, "404"),
        ("of the build before", first.list(blockSize: 3_000), "another build"),
        ("of other bytes", second.list(blockSize: 3_000, wrong: [0]), "hashes are not those"),
        ("cut", Array(second.list(blockSize: 3_000).dropLast(5)), "ends within a block"),
        ("a page", Array("<html>nothing here</html>".utf8), "line of JSON"),
        ("another hash", second.list(blockSize: 3_000, members: ["hash_type": "\"fnv1a\""]), "xxh64"),
        ("too many blocks", second.list(blockSize: 3_000, members: ["num_blocks": "1e15"]), "number of blocks"),
        ("too large", [UInt8](repeating: 0x20, count: 900_000), "costs more than it can save"),
        ("one block", second.list(blockSize: 10_000_000), "blocks are too large"),
    ]

    @Test(arguments: wrong.indices)
    func aListThatIsWrongIsNotUsed(number: Int) async throws {
        let (what, list, note) = Self.wrong[number]
        let server = try BuildServer()
        defer { server.stop() }
        server.put("/2.pmtiles", Self.second.bytes)
        if let list { server.put("/2.pmtiles.sync", list) }
        let origin = try await Self.origin(server, "2")
        let plan = try await origin.plan(Self.all) {}
        #expect(plan.note.hasPrefix("not used: ") && plan.note.contains(note), "\(what): \(plan.note)")
        #expect(plan.plan.blocks.isEmpty)
        let tiles = try await Self.fetch(origin, plan)
        #expect(tiles.count == Self.all.count, "\(what)")
    }

    @Test func bytesThatAreNotThoseOfTheListEndItsUse() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        server.put("/1.pmtiles", Self.first.bytes)
        server.put("/1.pmtiles.sync", Self.first.list(blockSize: 3_000, wrong: [1]))
        let origin = try await Self.origin(server, "1")
        let plan = try await origin.plan(Self.all) {}
        #expect(plan.note.hasPrefix("used: "), "no sample meets the wrong block")
        await #expect(throws: RefutedBlocks.self) { try await Self.fetch(origin, plan) }
        let kept = Self.kept(try await Self.fetch(origin, plan))
        #expect(kept.bodies.count == Self.all.count)
        #expect(kept.validators.values.allSatisfy { $0.etag?.hasPrefix("\"archive-") == true })
    }
}
