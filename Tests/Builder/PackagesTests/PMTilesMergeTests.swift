import Digests
import Errors
import Foundation
import PackageFiles
import Packages
import Shards
import TestSupport
import Testing
import TileBodies
import Tiles

/// PMTiles out of the merge against PMTiles out of the MBTiles file of the same merge.
struct PMTilesMergeTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// Writes a package both ways and compares all bytes and what is said of them.
    @discardableResult
    private func compare(
        _ spec: PackageSpec, _ shards: [MergeInput], allowedMissing: UInt64 = 0, stripTiles: Int = 40_000
    ) throws -> PackageReceipt {
        let (main, old, new) = (scratch.file("m.mbtiles"), scratch.file("old.pmtiles"), scratch.file("new.pmtiles"))
        defer { for url in [main, old, new] { try? FileManager.default.removeItem(at: url) } }
        let package = try MBTilesMerge.run(spec, shards: shards, into: main, allowedMissing: allowedMissing)
        let export = try PackageExport.write(from: main, format: .pmtiles, to: old)
        let receipt = try PMTilesMerge.run(
            spec, shards: shards, into: new, allowedMissing: allowedMissing, small: .never, stripTiles: stripTiles)
        #expect(try bytes(new) == bytes(old))
        #expect(receipt.digest == export.digest && receipt.size == export.size && receipt.tiles == export.tiles)
        #expect(receipt.tilesHash == package.tilesHash && receipt.remark == package.remark)
        #expect(receipt.empty == package.empty && receipt.missing == package.missing)
        #expect(receipt.distinct == package.distinct)
        return receipt
    }

    private func code(_ body: () throws -> Void) -> PackagesError.Code? {
        #expect(throws: PackagesError.self) { try body() }?.code
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).filter { !$0.hasPrefix("shard-") }
    }

    @Test(arguments: ["0-9", "0-0", "3-7", "9-9", "0-4"]) func theBytesAreThoseOfTheOtherWay(zooms: String) throws {
        let world = try World(zooms: zooms)
        for (count, strip) in [(1, 40_000), (3, 40_000), (7, 1), (4, 100)] {
            try compare(
                try world.spec, try world.shards(count, in: scratch, seed: UInt64(count)), stripTiles: strip)
        }
        #expect(try names().isEmpty)
    }

    /// Bodies that compression does not shorten, so that groups of shards and pieces of the file are full.
    @Test func largeBodiesAndFormatOneAreTheSameToo() throws {
        let world = try World(padding: 20_000)
        let shards = try world.shards(5, in: scratch, seed: 3)
        let receipt = try compare(try world.spec, shards)
        // More than a piece of the file that is written at once.
        #expect(receipt.size > 1 << 20)
        let spec = try world.spec
        var metadata = spec.metadata
        metadata.bounds = try BoundingBox(west: 170, south: -20, east: -170, north: 20)
        for version in PackageSpec.formatVersions {
            try compare(
                PackageSpec(
                    id: "x", mask: spec.mask, zooms: spec.zooms, metadata: metadata, formatVersion: version), shards)
        }
    }

    @Test func layersThatAreFoundInTheTilesAreTheSame() throws {
        let world = try World()
        let spec = try world.spec
        var metadata = spec.metadata
        metadata.vectorLayersJSON = nil
        try compare(
            PackageSpec(id: "x", mask: spec.mask, zooms: spec.zooms, metadata: metadata),
            try world.shards(4, in: scratch, seed: 5))
    }

    /// Shards with tiles outside of the package, tiles that two shards have, and tiles that no shard has.
    @Test func foreignRepeatedAndMissingTilesAreTheSame() throws {
        let world = try World()
        let spec = try world.spec
        let corner = try #require(TileID(zoom: 7, x: 61, y: 40))
        let mask = TileMask(tiles: Array(world.mask.tiles(in: .all).filter(corner.contains)), maxZoom: 9)
        var shards = try world.shards(3, in: scratch, seed: 8)
        shards += try world.shards(2, in: scratch, seed: 9, of: Array(world.samples.prefix(50)))
        try compare(
            PackageSpec(id: "x", mask: mask, zooms: try ZoomRange(parsing: "2-9"), metadata: spec.metadata), shards)
        let some = try world.shards(2, in: scratch, seed: 10, of: Array(world.samples.dropLast(20)))
        let receipt = try compare(spec, some, allowedMissing: 20)
        #expect(receipt.missing == 20)
        let target = scratch.file("a.pmtiles")
        #expect(
            code { _ = try PMTilesMerge.run(spec, shards: some, into: target, allowedMissing: 19) } == .missingTiles)
        #expect(try names().isEmpty)
    }

    /// Some bodies are the stated format, and some are another one; or all are another one.
    @Test(arguments: [TileFormat.png, .webp, .jpeg]) func picturesAreTheSame(stated: TileFormat) throws {
        let world = try World(zooms: "0-6")
        var random = SplitMix(state: 3)
        let sea = NoisePicture.png(&random)
        let samples = world.samples.enumerated().map { index, sample in
            let body = index % 5 == 0 ? NoisePicture.webp() : index % 3 == 0 ? sea : NoisePicture.png(&random)
            return Sample(tile: sample.tile, body: sample.body == nil ? nil : body)
        }
        let spec = try world.spec
        var metadata = spec.metadata
        (metadata.format, metadata.vectorLayersJSON, metadata.tileSize) = (stated, nil, 512)
        let shards = try world.shards(3, in: scratch, seed: 2, of: samples)
        let pictures = PackageSpec(id: "x", mask: spec.mask, zooms: spec.zooms, metadata: metadata)
        try compare(pictures, shards)
    }

    /// Each part of a package that is cut by the size of its PMTiles files alone.
    @Test func partsAreTheSame() throws {
        let world = try World(padding: 3_000)
        let shards = try world.shards(6, in: scratch, seed: 4)
        let limit: UInt64 = 120_000
        var parts = try PackageParts(try world.spec, shards: shards, formats: [.pmtiles], limit: limit)
        var count = 0
        var tiles: Set<TileID> = []
        while let part = parts.current {
            let receipt = try compare(part.spec, part.shards)
            guard receipt.size <= limit else {
                try parts.reject(bytes: receipt.size)
                continue
            }
            count += 1
            tiles.formUnion(part.spec.mask.tiles(in: world.zooms))
            try parts.accept()
        }
        #expect(count > 2 && tiles == Set(world.mask.tiles(in: world.zooms)))
    }

    @Test func aMergeThatFailsOrIsStoppedLeavesNoFile() throws {
        let world = try World()
        let shards = try world.shards(2, in: scratch, seed: 1)
        let target = scratch.file("a.pmtiles")
        // Stopped at the first tile, between the passes, and near the end.
        let most = UInt64(world.samples.filter { $0.body != nil }.count)
        for limit in [1, most / 2, most / 2 + 1, most - 16] {
            #expect(throws: CancellationError.self) {
                try PMTilesMerge.run(try world.spec, shards: shards, into: target, small: .never) {
                    if $0 >= limit { throw CancellationError() }
                }
            }
            #expect(try names().isEmpty)
        }
        var damaged = try bytes(shards[0].url)
        damaged[damaged.count / 3] ^= 0x40
        try Data(damaged).write(to: shards[0].url)
        #expect(code { _ = try PMTilesMerge.run(try world.spec, shards: shards, into: target) } == .badShard)
        #expect(try names().isEmpty)
        try Data().write(to: target)
        #expect(code { _ = try PMTilesMerge.run(try world.spec, shards: shards, into: target) } == .io)
    }

    @Test func aPackageWithoutTilesCannotBePMTiles() throws {
        let world = try World(zooms: "0-3")
        let shards = try world.shards(
            1, in: scratch, seed: 1, of: world.samples.map { Sample(tile: $0.tile, body: nil) })
        let target = scratch.file("a.pmtiles")
        #expect(code { _ = try PMTilesMerge.run(try world.spec, shards: shards, into: target) } == .unsupported)
        #expect(try names().isEmpty)
    }
}
