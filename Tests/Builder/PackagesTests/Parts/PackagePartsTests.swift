import Digests
import Foundation
import PackageFiles
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import Packages

/// Parts that are written: their sizes, their tiles, and that they depend on the tiles alone.
struct PackagePartsTests {
    let scratch: Scratch
    let world: World
    init() throws {
        scratch = try Scratch()
        world = try World(padding: 6_000)
    }

    private struct Written: Equatable {
        var part: String
        var digest: String
        var size: UInt64
    }

    /// Writes all parts; `largest` is asked for the size that counts, in place of the file's.
    private func write(
        _ limit: UInt64, _ inputs: [MergeInput], name: String, formats: [PackageFormat] = [],
        largest: (UInt64) -> UInt64 = { $0 }
    ) throws -> (written: [Written], specs: [PackageSpec]) {
        var parts = try PackageParts(try world.spec, shards: inputs, formats: [.mbtiles] + formats, limit: limit)
        var (written, specs): ([Written], [PackageSpec]) = ([], [])
        var rounds = 0
        while let part = parts.current {
            rounds += 1
            try #require(rounds < 200)
            let url = scratch.file("\(name)-\(rounds).mbtiles")
            let receipt = try MBTilesMerge.run(part.spec, shards: part.shards, into: url)
            var sizes = [receipt.size]
            for format in formats {
                let other = scratch.file("\(name)-\(rounds)\(format.fileExtension)")
                sizes.append(try PackageExport.write(from: url, format: format, to: other).size)
            }
            let most = largest(sizes.max() ?? 0)
            guard most <= limit else {
                try parts.reject(bytes: most)
                continue
            }
            #expect(try PackageVerify.run(url, mask: part.spec.mask).isVerified)
            written.append(Written(part: part.spec.id, digest: receipt.digest.hex, size: receipt.size))
            specs.append(part.spec)
            try parts.accept()
        }
        return (written, specs)
    }

    @Test func partsHaveAllTilesAndNoneIsTooLarge() throws {
        let whole = scratch.file("whole.mbtiles")
        let inputs = try world.shards(4, in: scratch, seed: 1)
        let size = try MBTilesMerge.run(try world.spec, shards: inputs, into: whole).size
        let limit = size / 3
        let (written, specs) = try write(limit, inputs, name: "a")
        #expect((3...6).contains(written.count), "\(written)")
        #expect(written.map(\.part) == (1...written.count).map { "demo-\($0)" })
        #expect(written.allSatisfy { $0.size <= limit })
        #expect(written.dropLast().allSatisfy { $0.size > limit * 3 / 4 }, "parts are full: \(written) of \(limit)")
        #expect(TileMask(union: specs.map(\.mask)) == world.mask)
        let low = Set(world.mask.tiles(in: try ZoomRange(parsing: "0-0")))
        for spec in specs { #expect(low.isSubset(of: Set(spec.mask.tiles(in: world.zooms)))) }
    }

    @Test func theSameTilesGiveTheSamePartsHoweverTheyAreSpread() throws {
        let one = try write(200_000, try world.shards(1, in: scratch, seed: 3), name: "one").written
        let many = try write(200_000, try world.shards(13, in: scratch, seed: 4), name: "many").written
        #expect(one.count > 1 && one == many)
    }

    @Test func aPackageThatFitsStaysWhole() throws {
        let (written, _) = try write(10_000_000, try world.shards(2, in: scratch, seed: 5), name: "whole")
        #expect(written.map(\.part) == ["demo"])
    }

    @Test func unpackedTilesThatTakeMoreThanWasKnownAreCutAgain() throws {
        // Bodies in the archive are unpacked, which the sizes of packed bodies do not say.
        let (written, specs) = try write(
            150_000, try world.shards(2, in: scratch, seed: 6), name: "zip", formats: [.zip])
        #expect(written.count > 1)
        #expect(TileMask(union: specs.map(\.mask)) == world.mask)
    }

    @Test func aWholePackageThatTurnsOutTooLargeIsCut() throws {
        let inputs = try world.shards(2, in: scratch, seed: 7)
        let size = try #require(try write(10_000_000, inputs, name: "w").written.first?.size)
        let (written, specs) = try write(size + 50_000, inputs, name: "c") { $0 * 3 / 2 }
        #expect(written.count == 2, "\(written)")
        #expect(TileMask(union: specs.map(\.mask)) == world.mask)
    }

    @Test func aLimitThatNoPlaceFitsIsRefused() throws {
        let inputs = try world.shards(1, in: scratch, seed: 8)
        let error = #expect(throws: PackagesError.self) {
            try PackageParts(try world.spec, shards: inputs, formats: [], limit: 21_000)
        }
        #expect(error?.code == .tooLarge && error?.message.contains("--max-file") == true)
    }

    @Test func aPackageThatLacksTilesIsRefused() throws {
        let inputs = try world.shards(1, in: scratch, seed: 9, of: Array(world.samples.dropLast(5)))
        let error = #expect(throws: PackagesError.self) {
            try PackageParts(try world.spec, shards: inputs, formats: [], limit: 200_000)
        }
        #expect(error?.code == .missingTiles)
    }

    @Test func theEstimateSaysAboutAsManyParts() throws {
        let zooms = world.zooms.map { zoom in
            let all = world.samples.filter { $0.tile.zoom == zoom }
            return (
                tiles: UInt64(all.count),
                sample: all.map {
                    PackageForecast.Tile(
                        tile: $0.tile, bytes: $0.body?.count ?? 0, body: UInt64(truncatingIfNeeded: $0.body.hashValue))
                }
            )
        }
        let forecast = PackageForecast(zooms)
        let inputs = try world.shards(1, in: scratch, seed: 3)
        let mask = try world.spec.mask
        for limit: UInt64 in [150_000, 200_000, 300_000, 500_000] {
            let written = try write(limit, inputs, name: "e\(limit)").written.count
            let said = forecast.parts(of: [.mbtiles], mask: mask, limit: limit)
            #expect(
                abs(said - written) <= max(1, written / 5), "\(limit): \(said) are said, \(written) written")
        }
        #expect(forecast.parts(of: [.mbtiles], mask: mask, limit: 100_000_000) == 1)
    }
}
