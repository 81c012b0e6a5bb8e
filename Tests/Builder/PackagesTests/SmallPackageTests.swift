import Digests
import Errors
import Files
import Foundation
import PackageFiles
import Shards
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import Packages

/// Merges of small packages on one thread against those that read the shards in strips.
struct SmallPackageTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func merge(
        _ format: PackageFormat, _ spec: PackageSpec, _ shards: [MergeInput], allowedMissing: UInt64 = 0,
        maps: ShardMaps = ShardMaps(), small: SmallPackage = .usual
    ) throws -> (receipt: PackageReceipt, bytes: [UInt8]) {
        let url = scratch.file("merged")
        defer { try? FileManager.default.removeItem(at: url) }
        let run = format == .pmtiles ? PMTilesMerge.run : MBTilesMerge.run
        let receipt = try run(spec, shards, url, allowedMissing, LayerCache(), maps, small, 40_000) { _ in }
        return (receipt, try bytes(url))
    }

    private func compare(
        _ spec: PackageSpec, _ shards: [MergeInput], allowedMissing: UInt64 = 0, maps: ShardMaps = ShardMaps()
    ) throws {
        for format in [PackageFormat.mbtiles, .pmtiles] {
            let small = try merge(format, spec, shards, allowedMissing: allowedMissing, maps: maps)
            let large = try merge(format, spec, shards, allowedMissing: allowedMissing, small: .never)
            #expect(small.bytes == large.bytes && small.receipt == large.receipt, "\(format)")
            #expect(small.receipt.digest == Digest(of: small.bytes))
        }
    }

    private func code(_ body: () throws -> Void) -> PackagesError.Code? {
        #expect(throws: PackagesError.self) { try body() }?.code
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).filter { !$0.hasPrefix("shard-") }
    }

    @Test(arguments: ["0-9", "0-0", "3-7", "9-9"], [0, 5_000]) func theBytesAreTheSame(zooms: String, padding: Int)
        throws
    {
        let world = try World(zooms: zooms, padding: padding)
        let maps = ShardMaps()
        for count in [1, 4, 9] {
            try compare(try world.spec, try world.shards(count, in: scratch, seed: 3), maps: maps)
        }
        #expect(try files().isEmpty)
    }

    @Test func layersAndPicturesAreTheSame() throws {
        let world = try World()
        let spec = try world.spec
        var metadata = spec.metadata
        metadata.vectorLayersJSON = nil
        try compare(
            PackageSpec(id: "x", mask: spec.mask, zooms: spec.zooms, metadata: metadata),
            try world.shards(4, in: scratch, seed: 5))
        var random = SplitMix(state: 3)
        let sea = NoisePicture.png(&random)
        let samples = world.samples.enumerated().map { index, sample in
            Sample(tile: sample.tile, body: index % 3 == 0 ? NoisePicture.png(&random) : sea)
        }
        (metadata.format, metadata.tileSize) = (.png, 512)
        let pictures = PackageSpec(id: "x", mask: spec.mask, zooms: spec.zooms, metadata: metadata)
        try compare(pictures, try world.shards(3, in: scratch, seed: 6, of: samples))
    }

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
        try compare(spec, some, allowedMissing: 20)
        let more = try world.shards(
            1, in: scratch, seed: 11, of: [Sample(tile: world.samples[5].tile, body: vectorTile("other"))])
        for small in [SmallPackage.usual, .never] {
            let found = code { _ = try merge(.mbtiles, spec, some, allowedMissing: 19, small: small) }
            #expect(found == .missingTiles)
            #expect(code { _ = try merge(.mbtiles, spec, shards + more, small: small) } == .conflictingTiles)
        }
        #expect(try files().isEmpty)
    }

    /// At and below each limit the package is small, above it is not; its bytes are the same, and so is a file that outgrows its memory.
    @Test func packagesAtTheLimitsAreTheSame() throws {
        let world = try World(padding: 1_000)
        let spec = try world.spec
        let shards = try world.shards(3, in: scratch, seed: 2)
        let tiles = spec.mask.count(in: spec.zooms)
        let length = Set(world.samples.compactMap(\.body)).reduce(0) { $0 + $1.count }
        for format in [PackageFormat.mbtiles, .pmtiles] {
            let large = try merge(format, spec, shards, small: .never)
            for limit in [
                (tiles, length), (tiles - 1, length), (tiles, length - 1), (tiles, length / 2), (tiles, 1 << 30),
            ] as [(UInt64, Int)] {
                let small = try merge(format, spec, shards, small: SmallPackage(tiles: limit.0, bytes: limit.1))
                #expect(small.bytes == large.bytes && small.receipt == large.receipt, "\(limit)")
            }
        }
        func isSmall(_ tiles: UInt64, _ bytes: Int) throws -> Bool {
            try MergePlan(
                spec, shards: shards, orders: [.rows], allowedMissing: 0, maps: ShardMaps(),
                small: SmallPackage(tiles: tiles, bytes: bytes)
            ) {}.isSmall
        }
        #expect(try isSmall(tiles, length))
        #expect(try !isSmall(tiles - 1, length) && !isSmall(tiles, length - 1))
    }

    @Test func anIndexIsReadOnceAndBodiesAreCheckedEachTime() throws {
        let world = try World()
        let spec = try world.spec
        let shards = try world.shards(2, in: scratch, seed: 1)
        let (maps, none) = (ShardMaps(), ShardMaps(limit: 0))
        let first = try merge(.mbtiles, spec, shards, maps: maps)
        #expect(try merge(.mbtiles, spec, shards, maps: none).bytes == first.bytes)
        // The footer ends the file: only who reads the index sees that it is damaged.
        let intact = try bytes(shards[0].url)
        var damaged = intact
        damaged[damaged.count - 1] ^= 1
        try Data(damaged).write(to: shards[0].url)
        #expect(try merge(.mbtiles, spec, shards, maps: maps).bytes == first.bytes)
        #expect(code { _ = try merge(.mbtiles, spec, shards, maps: none) } == .badShard)
        // Another expected footer is another shard.
        let other = MergeInput(url: shards[0].url, digest: shards[0].digest, footerDigest: nil)
        #expect(code { _ = try merge(.mbtiles, spec, [other, shards[1]], maps: maps) } == .badShard)
        // The first bodies lie behind the header; their group is damaged, or gone.
        damaged = intact
        for index in 60..<600 { damaged[index] ^= 1 }
        try Data(damaged).write(to: shards[0].url)
        let error = #expect(throws: PackagesError.self) { try merge(.mbtiles, spec, shards, maps: maps) }
        #expect(error?.code == .badShard && error?.shard == shards[0].digest)
        try Data(intact.prefix(100)).write(to: shards[0].url)
        #expect(code { _ = try merge(.mbtiles, spec, shards, maps: maps) } == .badShard)
        try FileManager.default.removeItem(at: shards[0].url)
        #expect(code { _ = try merge(.pmtiles, spec, shards, maps: maps) } == .badShard)
        #expect(try files().isEmpty)
    }

    /// Shards that do not fit the limit together: the one that was used last stays.
    @Test func rememberedIndexesAreBounded() throws {
        let world = try World()
        let shards = try world.shards(3, in: scratch, seed: 1)
        let size = try shards.map { try ShardReader($0.url).map.memory }
        let maps = ShardMaps(limit: size[0] + size[1])
        for shard in shards { _ = try maps.map(of: shard) }
        for shard in shards { try FileManager.default.removeItem(at: shard.url) }
        #expect(throws: PackagesError.self) { try maps.map(of: shards[0]) }
        #expect(try maps.map(of: shards[2]).footerDigest == shards[2].footerDigest)
    }

    @Test func aMergeThatIsStoppedLeavesNoFile() throws {
        let world = try World()
        let shards = try world.shards(2, in: scratch, seed: 1)
        for limit in [0, 1, 100] as [UInt64] {
            let target = scratch.file("a")
            #expect(throws: CancellationError.self) {
                try MBTilesMerge.run(try world.spec, shards: shards, into: target) {
                    if $0 >= limit { throw CancellationError() }
                }
            }
            #expect(throws: CancellationError.self) {
                try PMTilesMerge.run(try world.spec, shards: shards, into: target) {
                    if $0 >= limit { throw CancellationError() }
                }
            }
            #expect(try files().isEmpty)
        }
    }
}
