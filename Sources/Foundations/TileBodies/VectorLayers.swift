/// The union of the layers seen in many vector tiles, from which `vector_layers` of TileJSON and MBTiles is derived.
///
/// A value: adding the same tiles in any order, or joining partial unions, gives the same result.
public struct VectorLayers: Sendable, Hashable {
    /// One layer over all tiles seen.
    public struct Layer: Sendable, Hashable {
        /// The lowest zoom the layer was seen at.
        public var minZoom: Int
        /// The highest zoom the layer was seen at.
        public var maxZoom: Int
        /// The fields seen, by name.
        public var fields: [String: VectorTileSummary.FieldType]
    }

    /// The layers by name.
    public private(set) var layers: [String: Layer] = [:]

    /// A union of no tiles.
    public init() {}

    /// Adds one tile of this zoom.
    public mutating func add(_ summary: VectorTileSummary, zoom: Int) {
        for layer in summary.layers { add(layer.name, layer.fields, zoom: zoom) }
    }

    /// Adds one layer of a tile of this zoom.
    mutating func add(_ name: String, _ fields: [String: VectorTileSummary.FieldType], zoom: Int) {
        join(name, Layer(minZoom: zoom, maxZoom: zoom, fields: fields))
    }

    /// Adds everything another union has seen.
    public mutating func formUnion(_ other: VectorLayers) {
        for (name, layer) in other.layers { join(name, layer) }
    }

    private mutating func join(_ name: String, _ layer: Layer) {
        guard var known = layers[name] else {
            layers[name] = layer
            return
        }
        known.minZoom = min(known.minZoom, layer.minZoom)
        known.maxZoom = max(known.maxZoom, layer.maxZoom)
        known.fields.merge(layer.fields) { $0.merged(with: $1) }
        layers[name] = known
    }

    /// The value of `vector_layers`: an array sorted by id, keys sorted, no white space.
    public var json: String {
        let parts = sorted(layers).map { name, layer in
            let fields = sorted(layer.fields).map { "\(Self.quoted($0)):\"\($1.rawValue)\"" }.joined(separator: ",")
            return "{\"fields\":{\(fields)},\"id\":\(Self.quoted(name)),"
                + "\"maxzoom\":\(layer.maxZoom),\"minzoom\":\(layer.minZoom)}"
        }
        return "[\(parts.joined(separator: ","))]"
    }

    /// By the bytes of the key, which is the same on every machine.
    private func sorted<Value>(_ dictionary: [String: Value]) -> [(String, Value)] {
        dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case let control where control.value < 0x20:
                let hex = String(control.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
