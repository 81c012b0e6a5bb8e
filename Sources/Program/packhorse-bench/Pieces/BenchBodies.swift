internal import CommandSupport
import Errors
import Foundation
import PackageFiles
import Packages
import Regions
import Shards
import TileBodies
import Tiles
import WorldTiles

/// Tiles of the demo world for measurements: the same for the same count, on every machine.
struct BenchBodies {
    /// A tile and the index of its body in ``distinct``; `nil` where the world has no data.
    struct Sample {
        let tile: TileID
        let body: Int?
    }

    /// Germany's tiles from zoom 0 on, parents before children.
    let samples: [Sample]
    /// Packed vector tiles of about 10 KB, each once.
    let distinct: [[UInt8]]
    /// Sum of the sizes of the distinct bodies in bytes.
    let bytes: Int
    let zooms: ZoomRange

    /// Makes `count` tiles.
    ///
    /// One third repeats the previous body, as sea and forest tiles of a real server do.
    init(count: Int, tree: RegionTree) throws {
        let cutter = TileCutter(tree: tree)
        var samples: [Sample] = []
        var distinct: [[UInt8]] = []
        for tile in tree.mask(of: "DE", maxZoom: 14).tiles(in: .all).prefix(count) {
            if samples.count % 3 == 2, !distinct.isEmpty {
                samples.append(Sample(tile: tile, body: distinct.count - 1))
            } else if let made = WorldTile.make(tile, from: cutter, padding: 9_000) {
                samples.append(Sample(tile: tile, body: distinct.count))
                distinct.append(made.gzip)
            } else {
                samples.append(Sample(tile: tile, body: nil))
            }
        }
        guard let deepest = samples.map(\.tile.zoom).max(), let zooms = ZoomRange(min: 0, max: deepest) else {
            throw CLIError(.usage, "a measurement needs at least one tile", hint: "pass --tiles 4000")
        }
        self.samples = samples
        self.distinct = distinct
        self.zooms = zooms
        bytes = distinct.reduce(0) { $0 + $1.count }
    }

    /// Megabytes (10^6 bytes) of the distinct bodies.
    var megabytes: Double { Double(bytes) / 1e6 }

    /// Writes all tiles into one shard.
    func shard(at url: URL) throws -> MergeInput {
        let writer = try ShardWriter(
            temporary: url, header: ShardHeader(tileset: "bench", cell: .root, zooms: zooms))
        for sample in samples {
            guard let body = sample.body else {
                try writer.addEmpty(sample.tile)
                continue
            }
            try writer.add(sample.tile, body: distinct[body], etag: nil, lastModified: nil)
        }
        let summary = try writer.finish()
        return MergeInput(url: url, digest: summary.digest, footerDigest: summary.footerDigest)
    }

    /// A package of all tiles.
    func spec() throws -> PackageSpec {
        PackageSpec(
            id: "bench", mask: TileMask(tiles: samples.lazy.map(\.tile), maxZoom: zooms.max), zooms: zooms,
            metadata: PackageMetadata(
                name: "Bench", format: .mvt, bounds: try BoundingBox(west: 5, south: 47, east: 16, north: 56),
                vectorLayersJSON: #"[{"fields":{},"id":"countries"}]"#))
    }
}
