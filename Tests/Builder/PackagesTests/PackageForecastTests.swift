import Digests
import Files
import Foundation
import PackageFiles
import Packages
import Shards
import Testing
import TileBodies
import Tiles

/// File sizes estimated from samples, compared with the real files.
struct PackageForecastTests {
    let scratch: Scratch
    let mask: TileMask
    let zooms: ZoomRange

    init() throws {
        scratch = try Scratch()
        // 3,855 tiles at zooms 4 to 8.
        mask = TileMask(
            tiles: (0..<40).flatMap { x in (0..<72).compactMap { TileID(zoom: 8, x: 90 + x, y: 60 + $0) } }, maxZoom: 8)
        zooms = try ZoomRange(parsing: "4-8")
    }

    private enum World: String, CaseIterable { case small, large, towns, sea }

    /// A body whose size is that of a place in one of four worlds; packed, it keeps it.
    private func body(_ tile: TileID, _ world: World) -> [UInt8] {
        var state = UInt64(tile.zoom) << 40 | UInt64(tile.x) << 20 | UInt64(tile.y)
        func random() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        _ = random()
        if world == .sea, tile.y % 3 != 0 { return vectorTile("sea") }
        let letters =
            switch world {
            case .small: 300 + Int(random() % 600)
            case .large: 4_000 + Int(random() % 9_000)
            // One in twenty is ten times as large.
            case .towns: random() % 20 == 0 ? 12_000 : 600 + Int(random() % 1_200)
            case .sea: 900 + Int(random() % 3_000)
            }
        let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8)
        return vectorTile(String(decoding: (0..<letters).map { _ in alphabet[Int(random() % 64)] }, as: UTF8.self))
    }

    private func package(_ world: World) throws -> (url: URL, bodies: [TileID: [UInt8]]) {
        let shard = scratch.file("shard-\(world)")
        let writer = try ShardWriter(
            temporary: shard, header: ShardHeader(tileset: "demo", cell: .root, zooms: ZoomRange.all))
        var bodies: [TileID: [UInt8]] = [:]
        for tile in mask.tiles(in: zooms) {
            let body = body(tile, world)
            bodies[tile] = body
            try writer.add(tile, body: body, etag: nil, lastModified: nil)
        }
        let url = scratch.file("\(world).mbtiles")
        let metadata = PackageMetadata(name: "Forecast", format: .mvt, bounds: try #require(mask.bounds))
        _ = try MBTilesMerge.run(
            PackageSpec(id: "F", mask: mask, zooms: zooms, metadata: metadata),
            shards: [MergeInput(url: shard, digest: try writer.finish().digest)], into: url)
        return (url, bodies)
    }

    /// Every tenth tile along the curve, from another one on for each seed.
    private func forecast(_ bodies: [TileID: [UInt8]], every step: Int, seed: Int) -> PackageForecast {
        PackageForecast(
            zooms.map { zoom in
                let all = Array(mask.tiles(atZoom: zoom, under: .root))
                let chosen =
                    all.count < 40 ? all : all.enumerated().filter { $0.offset % step == seed % step }.map(\.element)
                return (
                    UInt64(all.count),
                    chosen.map { tile in
                        let body = bodies[tile] ?? []
                        return PackageForecast.Tile(tile: tile, bytes: body.count, body: Digest(of: body).prefix128.0)
                    }
                )
            })
    }

    private func size(of url: URL) throws -> Double {
        try #require((FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber)?.doubleValue)
    }

    /// If every tile is known, only the model can be wrong; with a sample, the file is within the margin in nine of ten
    /// cases.
    @Test func filesLieInTheMargins() throws {
        var (cases, inside) = (0, 0)
        for world in World.allCases {
            let (url, bodies) = try package(world)
            for format in PackageForecast.formats where format.isEstimated(of: .mvt) && format.refusal(of: .mvt) == nil
            {
                let file = format == .mbtiles ? url : scratch.file("\(world)\(format.fileExtension)")
                if format != .mbtiles { _ = try PackageExport.write(from: url, format: format, to: file) }
                let found = try size(of: file)
                let known = try #require(forecast(bodies, every: 1, seed: 0).size(as: format))
                let error = abs(found - known.value)
                #expect(
                    error <= known.margin ?? 0,
                    "\(world) \(format): \(found), told \(known.value) ± \(known.margin ?? 0)")
                for seed in 0..<6 {
                    let told = try #require(forecast(bodies, every: 12, seed: seed * 2 + 1).size(as: format))
                    let margin = try #require(told.margin)
                    #expect(margin < told.value / 2, "\(world) \(format): ± \(margin) of \(told.value) says nothing")
                    cases += 1
                    if abs(found - told.value) <= margin { inside += 1 }
                }
            }
        }
        #expect(cases == 120 && inside * 10 >= cases * 9, "\(inside) of \(cases)")
    }

    @Test func aSampleWithoutSpreadIsNotTakenForCertain() throws {
        var total = SampledTotal()
        total.add([100, 100, 100, 100, 100], of: 1_000)
        #expect(total.value == 100_000)
        #expect(try #require(total.margin) > 10_000)
        total.add([], of: 5)
        #expect(total.margin == nil, "nothing is known of a zoom without answers")
        var all = SampledTotal()
        all.add([1, 2, 3], of: 3)
        #expect(all.value == 6 && all.margin == 0)
    }

    /// A file of pictures in every format, with every tile known.
    @Test func filesOfPicturesLieInTheMargins() throws {
        let package = try NoisePicture.package(scratch)
        let archive = try MBTilesArchive(path: package.path, .batch(package.path))
        var found: [Int: [PackageForecast.Tile]] = [:]
        try archive.tiles { tile, _, _ in
            let body = try archive.find(tile).body?.bytes ?? []
            found[tile.zoom, default: []].append(
                .init(tile: tile, bytes: body.count, body: Digest(of: body).prefix128.0))
        }
        let forecast = PackageForecast(
            found.sorted { $0.key < $1.key }.map { (UInt64($0.value.count), $0.value) }, metadata: 400)
        for format in PackageForecast.formats where format != .mbtiles {
            let file = scratch.file("pictures\(format.fileExtension)")
            let size = Double(try PackageExport.write(from: package, format: format, to: file).size)
            let told = try #require(forecast.size(as: format))
            #expect(abs(size - told.value) <= told.margin ?? 0, "\(format): \(size), told \(told.value)")
        }
    }

    @Test func theSizeOfAStyledDatabaseIsNotTold() throws {
        #expect(PackageForecast([]).size(as: .maplibre) == nil)
    }
}
