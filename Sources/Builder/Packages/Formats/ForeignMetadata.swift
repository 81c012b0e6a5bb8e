internal import Foundation
package import PackageFiles
package import TileBodies
package import Tiles

/// The metadata of a third-party file, corrected by what its tiles are.
///
/// Zooms and hash are those of the tiles. Bounds and centre that make no sense, or are not those of the tiles, are those of the tiles of
/// the deepest zoom (``ForeignPlace``). Vector layers that are missing are those found. Everything else is kept.
package struct ForeignMetadata {
    private var given: [String: String]
    /// What the tiles are; a picture stays a picture.
    package var format: TileFormat
    private let name: String
    private var hash = TilesHash()
    private var place: ForeignPlace
    private let layers: ForeignLayers?
    private var found: LayerCollector

    /// Rows that are about the file they come from, or about another place of the tiles.
    private static let dropped = [SQLiteSeal.name, "scheme", "agg_tiles_hash", "filesize"]

    /// Begins with the rows of a file.
    package init(_ given: [String: String], _ format: TileFormat, name: String) {
        self.given = given
        self.format = format
        self.name = name
        found = LayerCollector(format, isChecked: true)
        place = ForeignPlace(bounds: given["bounds"], center: given["center"])
        layers = format.traits.isVector ? ForeignLayers(given["json"]) : nil
        for row in Self.dropped { self.given[row] = nil }
    }

    /// Records a tile with its canonical body; tiles come by zoom, column and row.
    package mutating func add(_ tile: TileID, body: [UInt8], key: BodyKey) throws {
        hash.add(zoom: tile.zoom, column: tile.x, row: tile.tmsY, body: body)
        place.add(tile)
        if layers?.areComplete == false { try body.withUnsafeBytes { try found.add($0, key, zoom: tile.zoom) } }
    }

    /// The rows for a package of these tiles.
    package func rows() -> [String: String] {
        var rows = given
        if rows["name", default: ""].isEmpty { rows["name"] = name }
        rows["format"] = format.rawValue
        rows["agg_tiles_hash"] = hash.finish()
        rows["minzoom"] = place.zooms.map { "\($0.min)" } ?? rows["minzoom"]
        rows["maxzoom"] = place.zooms.map { "\($0.max)" } ?? rows["maxzoom"]
        if let (bounds, center) = place.rows { (rows["bounds"], rows["center"]) = (bounds, center) }
        if let layers, !layers.areComplete { rows["json"] = layers.completed(with: found.layers.json) }
        return rows
    }

    /// Bounds whose west is not east of their east: a box over longitude 180 becomes the whole width, because readers of
    /// MBTiles, PMTiles and TileJSON know no other; other text stays.
    static func flat(_ bounds: String) -> String {
        guard let box = ForeignPlace.box(bounds), box.crossesAntimeridian else { return bounds }
        return box.flatEdges.map(PackageMetadata.degrees).joined(separator: ",")
    }
}
