import Foundation
import PMTiles
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import struct PackageFiles.TileRecord
@testable import class PackageFiles.TileSorter

struct PMTilesLeafTests {
    /// More entries than a root can hold, with seas of one body between them.
    @Test func largePackagesHaveLeaves() throws {
        let scratch = try Scratch()
        let sea = vectorTile("sea")
        var tiles: [(Int, Int, Int, [UInt8])] = []
        for column in 0..<170 {
            for row in 0..<200 {
                let isSea = column % 16 > 12 && row < 160
                tiles.append((8, column, row, isSea ? sea : vectorTile("\(column) \(row)")))
            }
        }
        let file = scratch.file("large.mbtiles")
        try foreignFile(file, [["format", "pbf"], ["name", "large"]], tiles)
        let target = scratch.file("large.pmtiles")
        let receipt = try PackageExport.write(from: file, format: .pmtiles, to: target)
        #expect(receipt.tiles == UInt64(tiles.count))
        let archive = try PMTilesFile(path: target.path)
        let header = archive.header
        #expect(header.root.end <= PMTilesHeader.rootEnd && header.leaves.length > 0 && header.isClustered)
        #expect(header.tileEntries > 16_384 && header.tileEntries < header.addressedTiles)
        for (zoom, column, row, body) in tiles {
            let tile = try #require(TileID(zoom: zoom, x: column, tmsY: row))
            #expect(try archive.body(of: tile) == body)
        }
        #expect(try archive.body(of: .root) == nil)
        // And back, through a sorter that must merge.
        let back = scratch.file("back.mbtiles")
        _ = try PackageExport.write(from: target, format: .mbtiles, to: back)
        #expect(try PackageVerify.run(back).tilesHash == PackageVerify.run(target).tilesHash)
    }

    @Test(arguments: [1, 2, 7, 100, 5_000])
    func sortingInRunsIsSorting(limit: Int) throws {
        let scratch = try Scratch()
        var random = SplitMix(state: 5)
        let numbers = (0..<3_000).map { UInt64($0) }.shuffled(using: &random)
        let sorter = TileSorter(near: scratch.file("runs"), limit: limit)
        for number in numbers {
            try sorter.add(TileRecord(order: number, reference: number &* 3, length: number + 1))
        }
        for _ in 0..<2 {
            var next: UInt64 = 0
            func check(_ record: TileRecord) {
                #expect(record.order == next && record.reference == next * 3 && record.length == next + 1)
                next += 1
            }
            try sorter.walk(choose: { first, _ in first }, check)
            #expect(next == 3_000)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).isEmpty)
        try sorter.add(TileRecord(order: 17, reference: 0, length: 0))
        // Of two with one place, one is chosen; the other is not delivered.
        var found: [UInt64] = []
        func take(_ record: TileRecord) { if record.order == 17 { found.append(record.length) } }
        try sorter.walk(choose: { $0.length < $1.length ? $0 : $1 }, take)
        #expect(found == [0])
        #expect(throws: PackagesError.self) {
            try sorter.walk(choose: { _, _ in throw PackagesError(.badSource, "twice") }, { _ in })
        }
    }
}
