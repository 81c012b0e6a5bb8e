import CatalogFormat
import Digests
import Errors
import Files
import Foundation
import GRDB
import PackageFiles
import Packages
import Shards
import Testing
import TileBodies
import Tiles

/// Two regions of one tileset that overlap.
struct TilePacksTests {
    let scratch: Scratch
    let scheme: PackScheme
    let zooms: ZoomRange

    init() throws {
        scratch = try Scratch()
        scheme = try PackScheme(parsing: "0-3@0,4-6@4,7-8@6")
        zooms = try ZoomRange(parsing: "0-8")
    }

    /// A package with a tile's place in every body, every seventh tile empty and every fifth the sea.
    private func package(_ id: String, _ mask: TileMask) throws -> URL {
        let shard = scratch.file("shard-\(UUID().uuidString)")
        let writer = try ShardWriter(
            temporary: shard, header: ShardHeader(tileset: "demo", cell: .root, zooms: ZoomRange.all))
        for tile in mask.tiles(in: zooms) {
            let number = tile.x * 31 + tile.y * 17 + tile.zoom
            if number % 7 == 0 {
                try writer.addEmpty(tile)
            } else {
                let body = vectorTile(number % 5 == 0 ? "sea" : "\(tile)")
                try writer.add(tile, body: body, etag: nil, lastModified: nil)
            }
        }
        let url = scratch.file("\(id).mbtiles")
        let metadata = PackageMetadata(
            name: "Region \(id)", format: .mvt, bounds: try #require(mask.bounds), attribution: "© Demo",
            description: "only of \(id)")
        _ = try MBTilesMerge.run(
            PackageSpec(id: id, mask: mask, zooms: zooms, metadata: metadata),
            shards: [MergeInput(url: shard, digest: try writer.finish().digest)], into: url)
        return url
    }

    private func masks() throws -> (TileMask, TileMask) {
        let left = try ["8/130/90", "8/140/95"].map { try #require(TileID($0)) }
        let right = try ["8/131/91", "8/170/95", "8/160/30"].map { try #require(TileID($0)) }
        return (TileMask(tiles: left, maxZoom: 8), TileMask(tiles: right, maxZoom: 8))
    }

    private func cut(
        _ id: String, _ mask: TileMask, _ format: PackageFormat = .mbtiles, claiming claim: TileMask? = nil,
        lacksOnlyEmptyTiles: Bool = true
    ) throws -> TilePackList {
        var order = TilePacks.Order(package: try package(id, mask), id: id, tileset: "demo")
        order.mask = claim ?? mask
        order.lacksOnlyEmptyTiles = lacksOnlyEmptyTiles
        order.scheme = scheme
        order.format = format
        return try TilePacks.cut(order, into: scratch.file("out"))
    }

    /// A tile in no band would be in no pack, and a device would miss it without a warning.
    @Test func bandsThatLeaveAZoomOutAreRefused() throws {
        var order = TilePacks.Order(package: try package("left", try masks().0), id: "left", tileset: "demo")
        order.scheme = try PackScheme(parsing: "0-3@0,4-6@4")
        #expect(order.scheme.uncovered(zooms) == [7, 8])
        let error = #expect(throws: PackagesError.self) { try TilePacks.cut(order, into: scratch.file("short")) }
        #expect(error?.code == .badSpec && error?.message.contains("zoom 7") == true)
        #expect(!FileManager.default.fileExists(atPath: scratch.file("short/regions/left.json").path))
    }

    private func file(_ pack: TilePackList.Pack) -> URL {
        scratch.file("out/regions").appendingPathComponent(pack.url).standardized
    }

    @Test(arguments: [PackageFormat.mbtiles, .pmtiles])
    func regionsOfWidenedMasksShareTheirPacks(format: PackageFormat) throws {
        let (left, right) = try masks()
        let first = try cut("A", scheme.widened(left, zooms: zooms), format)
        let second = try cut("B", scheme.widened(right, zooms: zooms), format)
        let places = { (list: TilePackList) in Set(list.packs.map(\.index)) }
        let common = places(first).intersection(places(second))
        let deep = try #require(TileID("6/32/22"))
        #expect(common.contains(.root) && common.contains(deep), "\(common)")
        #expect(!places(first).subtracting(common).isEmpty && !places(second).subtracting(common).isEmpty)
        for index in common {
            #expect(first.packs.first { $0.index == index } == second.packs.first { $0.index == index })
        }
        for pack in first.packs + second.packs {
            #expect(pack.isComplete)
            let digest = try Digest.ofFile(file(pack))
            #expect(digest.digest.hex == pack.sha256 && digest.size == pack.size)
            #expect(pack.url.hasSuffix("/\(pack.index)/\(pack.sha256.prefix(16))\(format.fileExtension)"))
            let report = try PackageVerify.run(file(pack))
            #expect(report.isVerified && report.tiles == pack.tiles && report.seal == .valid, "\(report.problems)")
        }
        #expect(first.size == first.packs.reduce(0) { $0 + $1.size } && first.packsPerDevice == 750)
        let stored = try TilePackList(
            decoding: Array(Data(contentsOf: scratch.file("out/regions/A.json"))), named: "regions/A.json")
        #expect(stored == first)
    }

    /// All tiles of the package, each in one pack, with its body.
    @Test func thePacksTogetherAreThePackage() throws {
        let (left, _) = try masks()
        let list = try cut("A", left)
        let rows = { (url: URL) throws -> [[DatabaseValue]] in
            try DatabaseQueue(path: url.path).read {
                try Row.fetchAll($0, sql: "SELECT * FROM tiles ORDER BY 1, 2, 3").map { Array($0.databaseValues) }
            }
        }
        let all = try list.packs.flatMap { try rows(file($0)) }
        #expect(try all.count == rows(scratch.file("A.mbtiles")).count)
        #expect(try Set(all) == Set(rows(scratch.file("A.mbtiles"))))
        #expect(list.packs.allSatisfy { !$0.isComplete }, "nothing was widened")
    }

    /// The mask that a package could have had does not make its packs complete: its tiles do, and tiles known to be empty.
    @Test func aPackThatLacksTilesOfItsPlaceIsPartialWhateverMaskIsNamed() throws {
        let (left, _) = try masks()
        let wide = scheme.widened(left, zooms: zooms)
        let narrow = try cut("A", left, claiming: wide, lacksOnlyEmptyTiles: false)
        #expect(narrow.packs.allSatisfy { !$0.isComplete }, "each lacks tiles, and nothing says that they are empty")
        let whole = try cut("B", wide)
        #expect(whole.packs.allSatisfy { $0.isComplete })
        for pack in narrow.packs {
            let same = try #require(whole.packs.first { $0.index == pack.index })
            #expect(pack.tiles < same.tiles && pack.url != same.url, "\(pack.index) would be shared")
        }
        // Every seventh tile is empty: where a tile failed, a lacking one may be that one.
        let failed = try cut("C", wide, lacksOnlyEmptyTiles: false)
        #expect(failed.packs.allSatisfy { !$0.isComplete })
        #expect(failed.packs.map(\.url) == whole.packs.map(\.url), "the bytes are the same")
    }

    /// A file that has every tile of a pack needs no mask to prove it.
    @Test func aPackWithAllTilesOfItsPlaceIsCompleteUnlessItReachesBeyondTheMask() throws {
        let full = try #require(TileID("6/33/23"))
        let tiles = [full] + full.children
        let shard = scratch.file("full")
        let writer = try ShardWriter(
            temporary: shard, header: ShardHeader(tileset: "demo", cell: .root, zooms: ZoomRange.all))
        for tile in tiles { try writer.add(tile, body: vectorTile("\(tile)"), etag: nil, lastModified: nil) }
        let mask = TileMask(tiles: tiles, maxZoom: 7)
        let span = try ZoomRange(parsing: "6-7")
        let url = scratch.file("full.mbtiles")
        let metadata = PackageMetadata(name: "Full", format: .mvt, bounds: try #require(mask.bounds))
        _ = try MBTilesMerge.run(
            PackageSpec(id: "full", mask: mask, zooms: span, metadata: metadata),
            shards: [MergeInput(url: shard, digest: try writer.finish().digest)], into: url)
        var order = TilePacks.Order(package: url, id: "full", tileset: "demo")
        order.scheme = try PackScheme(parsing: "6-7@6")
        #expect(try TilePacks.cut(order, into: scratch.file("one")).packs.map(\.isComplete) == [true])
        order.mask = TileMask(tiles: [full], maxZoom: 7)
        #expect(try TilePacks.cut(order, into: scratch.file("two")).packs.map(\.isComplete) == [false])
    }

    /// A pack of one tile: four pages, or a few hundred bytes.
    @Test(arguments: [(PackageFormat.mbtiles, UInt64(4_096)), (PackageFormat.pmtiles, UInt64(1_200))])
    func aSmallPackIsASmallFile(format: PackageFormat, most: UInt64) throws {
        let mask = TileMask(tiles: [try #require(TileID("8/131/91"))], maxZoom: 8)
        let list = try cut("A", mask, format)
        let last = try #require(list.packs.last)
        #expect(last.tiles < 5 && last.size <= most, "\(last.size) bytes")
        let report = try PackageVerify.run(file(last))
        #expect(report.isVerified && report.seal == .valid && report.tiles == last.tiles, "\(report.problems)")
    }

    @Test func cuttingAgainChangesNothingAndHealsADamagedPack() throws {
        let (left, _) = try masks()
        let first = try cut("A", left)
        let pack = try #require(first.packs.last)
        try Data("rot".utf8).write(to: file(pack))
        try FileManager.default.removeItem(at: scratch.file("A.mbtiles"))
        #expect(try cut("A", left) == first)
        #expect(try Digest.ofFile(file(pack)).digest.hex == pack.sha256)
        let names = try #require(
            FileManager.default.enumerator(atPath: scratch.file("out").path)?.allObjects as? [String])
        #expect(!names.contains { $0.hasSuffix(".tmp") || $0.contains("part") })
    }

    @Test(arguments: ["", ".x", "a/b", "a b", String(repeating: "x", count: 121)])
    func namesThatAreNoFolderAreRefused(name: String) throws {
        for (id, tileset) in [(name, "demo"), ("A", name)] {
            let order = TilePacks.Order(package: scratch.file("absent"), id: id, tileset: tileset)
            let error = #expect(throws: PackagesError.self) { try TilePacks.cut(order, into: scratch.folder) }
            #expect(error?.code == .badSpec)
        }
    }

    @Test func aPatchIsRefused() throws {
        let fixture = try PatchFixture()
        let patch = scratch.file("a.patch.mbtiles")
        try Patch.make(old: fixture.old, new: try fixture.nextVersion().url, into: patch)
        let order = TilePacks.Order(package: patch, id: "A", tileset: "demo")
        let error = #expect(throws: PackagesError.self) { try TilePacks.cut(order, into: scratch.folder) }
        #expect(error?.message.contains("packhorse apply") == true)
        #expect(!FileManager.default.fileExists(atPath: scratch.file("packs").path))
    }

    @Test func aFileWithoutAnIndexIsRefused() throws {
        let flat = try PatchFixture()
        let source = try flat.converted(flat.old, "flat-without-index")
        let order = TilePacks.Order(package: source, id: "A", tileset: "demo")
        let error = #expect(throws: PackagesError.self) { try TilePacks.cut(order, into: scratch.folder) }
        #expect(error?.code == .unsupported)
        #expect(!FileManager.default.fileExists(atPath: scratch.file("regions").path))
    }
}
