internal import Foundation
internal import Synchronization
internal import TileBodies
package import Tiles

extension PackageMetadata {
    /// The rows of the metadata table, ascending by name.
    ///
    /// - Parameters:
    ///   - foundLayers: JSON text of the layers found in the tiles, used when the spec brings none.
    ///   - isFlat: Whether bounds over longitude 180 are written as the whole width (``BoundingBox/flatEdges``), as
    ///     package format 2 does; format 1 wrote a west above the east.
    package func rows(
        zooms: ZoomRange, tilesHash: String, foundLayers: String?, isFlat: Bool = true
    ) throws -> [(name: String, value: String)] {
        var rows = extra
        func set(_ name: String, _ value: String?) throws {
            guard let value else { return }
            guard rows.updateValue(value, forKey: name) == nil else {
                throw PackagesError(
                    .badSpec, "The extra metadata row '\(name)' is written by the package itself; remove it.")
            }
        }
        try set("name", name)
        try set("format", format.rawValue)
        let edges = isFlat ? bounds.flatEdges : [bounds.west, bounds.south, bounds.east, bounds.north]
        try set("bounds", edges.map(Self.degrees).joined(separator: ","))
        let middle =
            center
            ?? Center(
                longitude: bounds.center.longitude, latitude: bounds.center.latitude,
                zoom: Self.overviewZoom(bounds, zooms))
        try set("center", "\(Self.degrees(middle.longitude)),\(Self.degrees(middle.latitude)),\(middle.zoom)")
        try set("minzoom", "\(zooms.min)")
        try set("maxzoom", "\(zooms.max)")
        try set("attribution", attribution)
        try set("description", description)
        try set("type", role.rawValue)
        try set("version", version)
        try set("agg_tiles_hash", tilesHash)
        if format.traits.isVector { try set("json", try Self.layersJSON(vectorLayersJSON ?? foundLayers ?? "[]")) }
        try set("encoding", encoding?.rawValue)
        // Not a row of its own: MapLibre Native copies rows into TileJSON as texts, and refuses a source whose size is one.
        if let tileSize, !format.traits.isVector { try set("json", #"{"tileSize":\#(tileSize)}"#) }
        return rows.keys.sorted().map { ($0, rows[$0, default: ""]) }
    }

    /// Checks before a long merge what `rows` would only find after it.
    package func check() throws { _ = try rows(zooms: .all, tilesHash: "", foundLayers: nil) }

    /// Degrees with at most seven decimals (1 cm), always written the same way.
    package static func degrees(_ value: Double) -> String {
        let scaled = Int64((max(-1_000, min(1_000, value.isFinite ? value : 0)) * 1e7).rounded())
        let digits = String(scaled.magnitude)
        let padded = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        var fraction = padded.suffix(7)
        while fraction.last == "0" { fraction.removeLast() }
        return (scaled < 0 ? "-" : "") + padded.dropLast(7) + (fraction.isEmpty ? "" : "." + fraction)
    }

    /// The deepest zoom of the range at which the bounds are not wider than 256 pixels of the world map.
    package static func overviewZoom(_ bounds: BoundingBox, _ zooms: ZoomRange) -> Int {
        var zoom = zooms.min
        while zoom < zooms.max && bounds.width * Double(1 << (zoom + 1)) <= 360 { zoom += 1 }
        return zoom
    }

    /// The last result of ``layersJSON(_:)``: all packages of a job have the same layers, and writing them took a fifth
    /// of the time of small packages.
    private static let lastLayers = Mutex<(text: String, json: String)?>(nil)

    private static func layersJSON(_ text: String) throws -> String {
        if let last = lastLayers.withLock({ $0 }), last.text == text { return last.json }
        let json = try sortedLayers(text)
        lastLayers.withLock { $0 = (text, json) }
        return json
    }

    /// `{"vector_layers": […]}` with sorted keys and no spaces.
    private static func sortedLayers(_ text: String) throws -> String {
        func refuse(_ why: String) -> PackagesError {
            PackagesError(
                .badSpec,
                "The vector layers of the tileset are not usable: \(why). Correct 'vector_layers' of its TileJSON or archive."
            )
        }
        let value: Any
        do { value = try JSONSerialization.jsonObject(with: Data(text.utf8)) } catch {
            throw refuse("they are not JSON")
        }
        guard let layers = value as? [[String: Any]] ?? (value as? [String: Any])?["vector_layers"] as? [[String: Any]],
            layers.allSatisfy({ $0["id"] is String })
        else { throw refuse("an array of objects with an id is expected") }
        // MBTiles 1.3 requires the member `fields` of each layer, even if it is empty.
        let complete = layers.map { layer in layer.merging(["fields": [String: String]()]) { given, _ in given } }
        let data = try JSONSerialization.data(
            withJSONObject: ["vector_layers": complete], options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }
}
