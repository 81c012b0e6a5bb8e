import Digests
import Files
import Foundation
import PackageFiles
import Packages
import Testing
import TileBodies
import Tiles

/// What looks wrong about the tiles of a package, and which bodies are frequent.
struct FillTallyTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private static let blank = vectorTile("no map here")

    /// All tiles of zooms 0 to 5; `body` names the body of each.
    private func merge(_ name: String, _ body: (TileID) -> [UInt8]) throws -> (url: URL, receipt: PackageReceipt) {
        let zooms = try ZoomRange(parsing: "0-5")
        let mask = TileMask(full: 5)
        let spec = PackageSpec(
            id: "demo", mask: mask, zooms: zooms,
            metadata: PackageMetadata(
                name: "Demo", format: .mvt, bounds: try BoundingBox(west: -180, south: -85, east: 180, north: 85),
                vectorLayersJSON: #"[{"fields":{"name":"String"},"id":"land"}]"#))
        let samples = mask.tiles(in: zooms).map { Sample(tile: $0, body: body($0)) }
        let world = try World()
        let url = scratch.file("\(name).mbtiles")
        let inputs = try world.shards(3, in: scratch, seed: UInt64(name.utf8.count), of: samples)
        return (url, try MBTilesMerge.run(spec, shards: inputs, into: url))
    }

    @Test func oneBodyBelowDifferentTilesIsNoticed() throws {
        let made = try merge("placeholder") { tile in
            tile.zoom == 5 && tile.x % 4 == 0 ? Self.blank : vectorTile("\(tile)")
        }
        let remark = made.receipt.remark
        #expect(
            remark.contains("25 % of the tiles at zoom 5") && remark.contains(Digest(of: Self.blank).hex), "\(remark)")
        #expect(remark.contains("reject:"))
    }

    /// The sea has one body at all zooms; few tiles are no sign; and a body at a shallower zoom is none of the deepest.
    @Test func theSeaAndRareBodiesAreNoSign() throws {
        let sea = try merge("sea") { $0.zoom > 1 && $0.x < 1 << ($0.zoom - 1) ? Self.blank : vectorTile("\($0)") }
        #expect(sea.receipt.remark.isEmpty, "\(sea.receipt.remark)")
        let rare = try merge("rarely") { $0.zoom == 5 && $0.x % 16 == 0 ? Self.blank : vectorTile("\($0)") }
        #expect(rare.receipt.remark.isEmpty, "\(rare.receipt.remark)")
        let above = try merge("shallower") { $0.zoom == 4 ? Self.blank : vectorTile("\($0)") }
        #expect(above.receipt.remark.isEmpty, "\(above.receipt.remark)")
    }

    @Test func frequentBodiesOfAFileAreListed() throws {
        let made = try merge("census") { tile in
            tile.zoom == 5 && tile.x % 2 == 0 ? Self.blank : vectorTile("\(tile)")
        }
        var report = try PackageVerify.run(made.url)
        #expect(report.bodies == nil, "only what asks for it counts")
        try report.countBodies()
        let found = try #require(report.bodies)
        #expect(found.count == 1 && found[0].sha256 == Digest(of: Self.blank).hex && found[0].bytes == Self.blank.count)
        #expect(abs(found[0].share - 512.0 / 1365) < 1e-9)
        let pmtiles = scratch.file("census.pmtiles")
        _ = try PackageExport.write(from: made.url, format: .pmtiles, to: pmtiles)
        var other = try PackageVerify.run(pmtiles)
        try other.countBodies()
        #expect(other.bodies == found)
    }

    @Test func whatAFileSaysAboutItselfIsRead() throws {
        let file = scratch.file("words.mbtiles")
        let layers = #"{"vector_layers":[{"id":"water","fields":{}},{"id":"roads","fields":{}}]}"#
        try foreignFile(
            file,
            [
                ["name", " Estonia "], ["format", "pbf"], ["attribution", "© <b>Somebody</b>"],
                ["bounds", "-180,-85,180,85"],
                ["json", layers], ["version", ""],
            ], [(0, 0, 0, vectorTile("sea"))])
        var report = try PackageVerify.run(file)
        #expect(report.about == nil, "only what asks for it reads it")
        try report.describe()
        let about = try #require(report.about)
        #expect(about.name == "Estonia" && about.attribution == "© <b>Somebody</b>" && about.version == nil)
        #expect(about.bounds == "-180,-85,180,85" && about.layers == ["water", "roads"])
    }

    /// In a table without row numbers all tiles have the same reference.
    @Test func frequentBodiesOfAFileWithoutRowNumbersAreListed() throws {
        let file = scratch.file("places.mbtiles")
        let (sea, one, other) = (vectorTile("sea"), vectorTile("one"), vectorTile("other"))
        try foreignFile(
            file, [["name", "x"], ["format", "pbf"]],
            [(1, 0, 0, one), (1, 0, 1, sea), (1, 1, 0, sea), (1, 1, 1, other)],
            schema: """
                CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data BLOB,
                PRIMARY KEY (zoom_level, tile_column, tile_row)) WITHOUT ROWID
                """)
        var report = try PackageVerify.run(file)
        try report.countBodies()
        let found = try #require(report.bodies)
        #expect(found.count == 1 && found[0].sha256 == Digest(of: sea).hex && found[0].share == 0.5)
    }
}
