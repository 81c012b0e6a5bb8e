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

/// Plans of the ranges of an archive on a web server.
@Suite(.timeLimit(.minutes(15)))
struct RangePlannerTests {
    private static let zooms = ZoomRange(min: 0, max: 6) ?? .all
    private static let all = Array(TileMask(full: 6).tiles(in: zooms, under: .root))

    /// Zooms 0 to 6 but for some tiles, in leaves of 300 entries.
    ///
    /// Every 40th tile has the body of the tile 0, which is
    /// stored far in front of its neighbours, and bodies are 300 to 1,100 bytes.
    private static func archive() -> [UInt8] {
        var entries: [PMTilesDirectory.Entry] = []
        var data: [UInt8] = []
        for tile in all where tile.hilbertID % 17 != 3 {
            let id = tile.hilbertID
            let isSea = id % 40 == 0
            if isSea, id > 0 {
                entries.append(.init(tile: id, run: 1, length: entries[0].length, offset: 0))
                continue
            }
            let body = Gzip.compress(layer(id))
            entries.append(.init(tile: id, run: 1, length: UInt64(body.count), offset: UInt64(data.count)))
            data += body
        }
        var root: [PMTilesDirectory.Entry] = []
        var leaves: [UInt8] = []
        for start in stride(from: 0, to: entries.count, by: 300) {
            let part = Array(entries[start..<min(start + 300, entries.count)])
            let leaf = Gzip.compress(PMTilesDirectory(entries: part).encoded)
            root.append(.init(tile: part[0].tile, run: 0, length: UInt64(leaf.count), offset: UInt64(leaves.count)))
            leaves += leaf
        }
        let packedRoot = Gzip.compress(PMTilesDirectory(entries: root).encoded)
        var header = PMTilesHeader()
        header.root = .init(offset: 127, length: UInt64(packedRoot.count))
        header.metadata = .init(offset: header.root.end, length: 0)
        header.leaves = .init(offset: 20_000, length: UInt64(leaves.count))
        header.tiles = .init(offset: header.leaves.end, length: UInt64(data.count))
        (header.internalCompression, header.tileCompression, header.maxZoom) = (2, 2, 6)
        header.format = .mvt
        let head = header.encoded + packedRoot
        return head + [UInt8](repeating: 0, count: 20_000 - head.count) + leaves + data
    }

    /// A layer with a name that no packing makes much smaller.
    private static func layer(_ id: UInt64) -> [UInt8] {
        var state = id &* 0x9E37_79B9_7F4A_7C15 | 1
        let name = (0..<Int(300 + id % 800)).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(0x61 + (state >> 33) % 26)
        }
        func varint(_ value: Int) -> [UInt8] {
            value < 128 ? [UInt8(value)] : [UInt8(value & 0x7F | 0x80), UInt8(value >> 7)]
        }
        let inner = [0x0A] + varint(name.count) + name + [0x78, 0x02, 0x28, 0x40]
        return [0x1A] + varint(inner.count) + inner
    }

    private static func origin(_ server: RangeServer) async throws -> RemoteArchiveOrigin {
        let tileset = try await OriginMetadata.resolve(
            try TilesetFile(source: server.url, folder: URL(filePath: "/")), environment: [:])
        return try #require(try await OriginFactory.open(tileset, environment: [:]) as? RemoteArchiveOrigin)
    }

    /// Every second column of the deepest zoom, and all above.
    private static let wanted = all.filter { $0.zoom < 6 || $0.x % 8 < 4 }

    private static func outcomes(
        _ fetch: (@escaping @Sendable ([FetchedTile]) async throws -> Void) async throws -> Void
    ) async throws -> [TileID: FetchedTile.Outcome] {
        let found = Mutex<[TileID: FetchedTile.Outcome]>([:])
        try await fetch { group in
            found.withLock { found in
                for tile in group {
                    #expect(found[tile.tile] == nil, "\(tile.tile) was delivered twice")
                    found[tile.tile] = tile.outcome
                }
            }
        }
        return found.withLock(\.self)
    }

    @Test func thePartsOfAPlanHaveAllTilesAndCostNoMoreRequestsThanThePlan() async throws {
        let server = try RangeServer(Self.archive())
        defer { server.stop() }
        let origin = try await Self.origin(server)
        let before = server.requests.count
        let ranges = try await origin.plan(Self.wanted) {}
        #expect(server.requests.count - before == 1, "all leaves in one request")
        #expect(ranges.tiles == UInt64(Self.wanted.count))
        // Another worker makes the same plan.
        let second = try await Self.origin(server).plan(Self.wanted.shuffled()) {}
        #expect(second.encoded == ranges.encoded)
        let read = try #require(PlannedRanges(ranges.encoded))

        let parts = read.parts(in: .root, zooms: Self.zooms)
        #expect(parts.count > 4 && parts.reduce(0) { $0 + $1.tiles } == ranges.tiles)
        let worker = try await Self.origin(server)
        let asked = server.requests.count
        var (first, found): (UInt64, [TileID: FetchedTile.Outcome]) = (0, [:])
        for part in parts {
            let positions = first..<first + part.tiles
            first += part.tiles
            let tiles = try #require(read.tiles(at: positions))
            #expect(tiles.allSatisfy { part.cell.contains($0) && part.zooms.contains($0.zoom) })
            let some = try await Self.outcomes {
                try await worker.fetch(Set(tiles), of: read, at: positions, known: [:], deliver: $0)
            }
            #expect(Set(some.keys) == Set(tiles))
            found.merge(some) { old, _ in old }
        }
        #expect(server.requests.count - asked == read.plan.requests.count)
        let expected = try await Self.outcomes { try await origin.fetch(Self.wanted, deliver: $0) }
        #expect(found == expected)
        let empty = found.values.count { $0 == FetchedTile.Outcome.empty }
        #expect(empty == Self.wanted.count { $0.hilbertID % 17 == 3 } && empty > 0)
    }

    @Test func someTilesOfAPartCostTheirBytesOnly() async throws {
        let server = try RangeServer(Self.archive())
        defer { server.stop() }
        let origin = try await Self.origin(server)
        let ranges = try await origin.plan(Self.all) {}
        #expect(ranges.plan.requests.count == 1)
        let some = Set([Self.all[5], Self.all[4_000]])
        let sent = server.sent
        let found = try await Self.outcomes {
            try await origin.fetch(some, of: ranges, at: 0..<ranges.tiles, known: [:], deliver: $0)
        }
        #expect(Set(found.keys) == some && server.sent - sent < 3_000)
        // All tiles are known to be those of this version.
        guard case .stored(_, let etag, _)? = found[Self.all[5]] else {
            Issue.record("\(found)")
            return
        }
        let validators = try #require(TileValidators(etag: etag, lastModified: nil))
        let known = Dictionary(uniqueKeysWithValues: Self.all.map { ($0, validators) })
        let asked = server.requests.count
        let again = try await Self.outcomes {
            try await origin.fetch(Set(Self.all), of: ranges, at: 0..<ranges.tiles, known: known, deliver: $0)
        }
        #expect(again.values.allSatisfy { $0 == FetchedTile.Outcome.unchanged } && again.count == Self.all.count)
        #expect(server.requests.count == asked)
    }

    @Test func aPlanOfAnotherFileIsRefused() async throws {
        let server = try RangeServer(Self.archive())
        defer { server.stop() }
        let ranges = try await Self.origin(server).plan(Self.all) {}
        let other = try RangeServer(Self.archive() + [0])
        defer { other.stop() }
        let origin = try await Self.origin(other)
        await #expect(throws: OriginsError.self) {
            try await origin.fetch(Set(Self.all), of: ranges, at: 0..<10, known: [:]) { _ in }
        }
    }

    @Test func requestsOfManyTilesAreCutInThemselves() throws {
        // One request with 40,000 tiles of one body, then as many tiles without one.
        let plan = RangePlan(
            archive: .init(length: 1_000, etag: "", lastModified: "", head: []),
            runs: [
                .init(tile: 1_000_000, count: 40_000, length: 10, offset: 100),
                .init(tile: 1_100_000, count: 40_000, length: 0, offset: 0),
            ], requests: [100..<110])
        let zooms = try #require(ZoomRange(min: 0, max: 14))
        let parts = PlannedRanges(plan).parts(in: .root, zooms: zooms)
        #expect(parts.reduce(0) { $0 + $1.tiles } == 80_000)
        #expect(parts.allSatisfy { $0.tiles <= 16_384 })
    }

    @Test func partsOfAMillionLargeBodiesFitAMessage() throws {
        let count: UInt64 = 500_000
        let size: UInt64 = 8 << 20
        let runs = (0..<count).map {
            RangePlan.Run(tile: 3_000_000 + $0, count: 1, length: UInt32(size), offset: $0 * size)
        }
        let plan = RangePlan(
            archive: .init(length: 1 << 62, etag: "", lastModified: "", head: []), runs: runs,
            requests: runs.compactMap(\.place))
        let parts = PlannedRanges(plan).parts(in: .root, zooms: try #require(ZoomRange(min: 0, max: 14)))
        #expect(parts.reduce(0) { $0 + $1.tiles } == count && parts.count < 16_384)
    }
}
