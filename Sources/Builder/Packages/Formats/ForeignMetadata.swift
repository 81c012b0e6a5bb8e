internal import Foundation
internal import PackageFiles
internal import TileBodies
internal import Tiles

/// The metadata of a third-party file, corrected by what its tiles are.
///
/// Zooms and hash are those of the tiles. Bounds and centre that are missing or make no sense (0,0,0,0 is common) are those of the
/// tiles of the deepest zoom. Vector layers that are missing are those found. Everything else is kept.
struct ForeignMetadata {
    private var given: [String: String]
    private let format: TileFormat
    private let name: String
    private var hash = TilesHash()
    private var zooms: ClosedRange<Int>?
    private var deepest: (columns: ClosedRange<Int>, rows: ClosedRange<Int>)?
    private var found = LayerCollector(isChecked: true)
    private let findsLayers: Bool

    /// Rows that are about the file they come from, or about another place of the tiles.
    private static let dropped = [SQLiteSeal.name, "scheme", "agg_tiles_hash", "filesize"]

    init(_ given: [String: String], _ format: TileFormat, name: String) {
        self.given = given
        self.format = format
        self.name = name
        findsLayers = format.traits.isVector && Self.layers(given["json"]) == nil
        for row in Self.dropped { self.given[row] = nil }
    }

    /// Records a tile with its canonical body; tiles come by zoom, column and row.
    mutating func add(_ tile: TileID, body: [UInt8], key: BodyKey) throws {
        hash.add(zoom: tile.zoom, column: tile.x, row: tile.tmsY, body: body)
        if zooms?.upperBound != tile.zoom { deepest = nil }
        zooms = (zooms?.lowerBound ?? tile.zoom)...tile.zoom
        let (columns, rows) = deepest ?? (tile.x...tile.x, tile.y...tile.y)
        deepest = (
            min(columns.lowerBound, tile.x)...max(columns.upperBound, tile.x),
            min(rows.lowerBound, tile.y)...max(rows.upperBound, tile.y)
        )
        if findsLayers { try body.withUnsafeBytes { try found.add($0, key, zoom: tile.zoom) } }
    }

    /// The rows for a package of these tiles.
    func rows() -> [String: String] {
        var rows = given
        if rows["name", default: ""].isEmpty { rows["name"] = name }
        rows["format"] = format.rawValue
        rows["agg_tiles_hash"] = hash.finish()
        rows["minzoom"] = zooms.map { "\($0.lowerBound)" } ?? rows["minzoom"]
        rows["maxzoom"] = zooms.map { "\($0.upperBound)" } ?? rows["maxzoom"]
        if let box = box, !Self.isUseful(rows["bounds"]) {
            rows["bounds"] = [box.west, box.south, box.east, box.north].map(PackageMetadata.degrees)
                .joined(separator: ",")
            rows["center"] = nil
        }
        if rows["center"] == nil, let text = rows["bounds"] { rows["center"] = center(text) }
        if findsLayers { rows["json"] = #"{"vector_layers":\#(found.layers.json)}"# }
        return rows
    }

    /// What the tiles of the deepest zoom cover.
    private var box: (west: Double, south: Double, east: Double, north: Double)? {
        guard let zoom = zooms?.upperBound, let deepest,
            let northWest = TileID(zoom: zoom, x: deepest.columns.lowerBound, y: deepest.rows.lowerBound)?.bounds,
            let southEast = TileID(zoom: zoom, x: deepest.columns.upperBound, y: deepest.rows.upperBound)?.bounds
        else { return nil }
        return (northWest.west, southEast.south, southEast.east, northWest.north)
    }

    private func center(_ bounds: String) -> String? {
        let numbers = bounds.split(separator: ",").compactMap { Double($0.trimmingCharacters(in: .whitespaces)) }
        guard numbers.count == 4,
            // Bounds of third parties that are no box give no center.
            let box = try? BoundingBox(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3]),
            let range = zooms.flatMap({ ZoomRange(min: $0.lowerBound, max: $0.upperBound) })
        else { return nil }
        let middle = box.center
        return PackageMetadata.degrees(middle.longitude) + "," + PackageMetadata.degrees(middle.latitude)
            + ",\(PackageMetadata.overviewZoom(box, range))"
    }

    private static func isUseful(_ bounds: String?) -> Bool {
        guard let bounds, MetadataCheck.areBounds(bounds) else { return false }
        let numbers = bounds.split(separator: ",").compactMap { Double($0.trimmingCharacters(in: .whitespaces)) }
        return numbers.count == 4 && numbers[0] != numbers[2] && numbers[1] != numbers[3]
    }

    /// The layers of a `json` row, when every one has id and fields.
    private static func layers(_ json: String?) -> [[String: Any]]? {
        // Metadata that is no JSON names no layers.
        guard let json, let value = try? JSONSerialization.jsonObject(with: Data(json.utf8)),
            let layers = (value as? [String: Any])?["vector_layers"] as? [[String: Any]],
            layers.allSatisfy({ $0["id"] is String && $0["fields"] is [String: Any] })
        else { return nil }
        return layers
    }
}
