import Errors
import Files
import Foundation
import Shards
import TestSupport
import Testing
import Tiles

struct ShardRoundTripTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    @Test func everyTileComesBackAsItWentIn() throws {
        let tiles = try samples(700, bodyBytes: 900)
        let url = scratch.file("a")
        let summary = try write(tiles.shuffled(), to: url)
        let found = try read(url, expecting: summary.digest)
        #expect(found == tiles.sorted { $0.tile < $1.tile })
        #expect(summary.stored == tiles.count { $0.body != nil })
        #expect(summary.empty == tiles.count { $0.body == nil })
        #expect(summary.distinct == Set(tiles.compactMap(\.body)).count)
        #expect(UInt64(try bytes(url).count) == summary.bytes)
    }

    @Test func aShardWithoutBodiesAndOneWithoutTilesAreShards() throws {
        let none = try write([], to: scratch.file("none"))
        #expect(try read(scratch.file("none"), expecting: none.digest).isEmpty)
        let empties = [Sample(tile: try tile(6, 33, 20), body: nil)]
        let empty = try write(empties, to: scratch.file("empty"))
        #expect(try read(scratch.file("empty"), expecting: empty.digest) == empties)
    }

    @Test func identicalBodiesAreStoredOnce() throws {
        var random = SplitMix(state: 7)
        let body = random.bytes(50_000)
        let tiles = try samples(200, bodyBytes: 1).map { Sample(tile: $0.tile, body: body) }
        let summary = try write(tiles, to: scratch.file("a"))
        #expect(summary.distinct == 1 && summary.stored == 200 && summary.bodyBytes == 50_000)
        #expect(summary.bytes < 52_000)
    }

    @Test func compressedBodiesGrowByLessThanOnePercent() throws {
        var random = SplitMix(state: 3)
        let tiles = try samples(2_000, bodyBytes: 1).enumerated().map { index, sample in
            Sample(
                tile: sample.tile, body: random.bytes(5_000 + index % 10_000), etag: "\"5f3a\(index)-2710\"",
                modified: "Sat, 21 Nov 2026 00:00:\(10 + index % 50) GMT")
        }
        let summary = try write(tiles, to: scratch.file("a"))
        let overhead = Double(summary.bytes) / Double(summary.bodyBytes) - 1
        #expect(overhead < 0.01, "overhead is \(overhead * 100) %")
    }

    @Test func onlyTheOrderOfBodiesFollowsTheOrderOfArrival() throws {
        let tiles = try samples(300, bodyBytes: 10)
        let forward = try write(tiles, to: scratch.file("a"))
        #expect(try write(tiles, to: scratch.file("b")) == forward)
        let backward = try write(tiles.reversed(), to: scratch.file("c"))
        #expect(backward.digest != forward.digest)
        #expect(try read(scratch.file("a")) == read(scratch.file("c")))
    }

    @Test func aBodyLargerThanAGroupAndTheLargestBodyFit() throws {
        var random = SplitMix(state: 9)
        let tiles = [
            Sample(tile: try tile(6, 33, 20), body: random.bytes(300_000)),
            Sample(tile: try tile(7, 66, 40), body: [UInt8](repeating: 7, count: ShardLimits.body)),
            Sample(tile: try tile(7, 66, 41), body: [1]),
        ]
        let summary = try write(tiles, to: scratch.file("a"))
        #expect(try Set(read(scratch.file("a"), expecting: summary.digest)) == Set(tiles))
    }

    @Test func theWriterRefusesWhatDoesNotBelong() throws {
        let header = ShardHeader(
            tileset: "demo", cell: try tile(6, 33, 20), zooms: try #require(ZoomRange(min: 6, max: 8)))
        let url = scratch.file("a")
        do {
            let writer = try ShardWriter(temporary: url, header: header)
            try writer.addEmpty(try tile(6, 33, 20))
            let refused: [(TileID, [UInt8], StorageError.Code)] = [
                (try tile(6, 33, 20), [1], .badTile), (try tile(6, 34, 20), [1], .badTile),
                (try tile(9, 264, 160), [1], .badTile),
                (try tile(5, 16, 10), [1], .badTile), (try tile(7, 66, 40), [], .limitExceeded),
                (try tile(7, 66, 40), [UInt8](repeating: 0, count: ShardLimits.body + 1), .limitExceeded),
            ]
            for (id, body, code) in refused {
                let error = #expect(throws: StorageError.self) {
                    try writer.add(id, body: body, etag: nil, lastModified: nil)
                }
                #expect(error?.code == code, "\(id)")
            }
            try writer.add(
                try tile(7, 66, 40), body: [1], etag: String(repeating: "e", count: 1_025), lastModified: "m")
            #expect(throws: StorageError.self) { try ShardWriter(temporary: url, header: header) }
            #expect(try writer.finish().stored == 1)
            #expect(throws: StorageError.self) { try writer.finish() }
            #expect(throws: StorageError.self) { try writer.addEmpty(try tile(7, 67, 40)) }
        }
        #expect(try read(url).map(\.etag) == [nil, nil])
        #expect(try read(url).map(\.modified) == [nil, "m"])
    }

    @Test func anUnfinishedWriterLeavesNoFile() throws {
        let url = scratch.file("a")
        do {
            let header = ShardHeader(tileset: "t", cell: .root, zooms: try #require(ZoomRange(min: 0, max: 1)))
            let writer = try ShardWriter(temporary: url, header: header)
            try writer.add(.root, body: [1, 2, 3], etag: nil, lastModified: nil)
            #expect(FileManager.default.fileExists(atPath: url.path))
        }
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func inspectionTellsWhatIsThere() throws {
        let tiles = try samples(700, bodyBytes: 900)
        let summary = try write(tiles, to: scratch.file("a"))
        var visited: [TileID] = []
        let found = try ShardInspection.run(scratch.file("a")) { visited.append($0.tile) }
        #expect(visited == tiles.map(\.tile).sorted())
        #expect(found.digest == summary.digest && found.stored == summary.stored && found.empty == summary.empty)
        #expect(found.tileset == "demo" && found.cell == "6/33/20" && found.groups > 1)
        #expect(found.tilesPerZoom.reduce(0) { $0 + $1.stored + $1.empty } == 700)
        #expect(try ShardInspection.looksLikeShard(scratch.file("a")))
        let decoded = try JSONDecoder().decode(ShardInspection.self, from: JSONEncoder().encode(found))
        #expect(decoded.digest == summary.digest)
    }
}
