internal import PackageFiles
internal import TextFormats
internal import TileBodies

/// What the metadata of the files of one tileset say about their tiles.
struct InstalledLayers {
    /// What the tiles are, and how a renderer reads them, as the first file says it; `nil` when no file says so.
    private(set) var source: TileSourceMembers?
    private var byID: [String: [String: JSONValue]] = [:]
    private var order: [String] = []

    /// The most files that are read: the packages and packs of a tileset have been made from the same tiles.
    static let maxFiles = 32

    /// The value of `vector_layers` in TileJSON; `nil` when no file lists its layers.
    var vectorLayers: JSONValue? {
        order.isEmpty ? nil : .array(order.compactMap { byID[$0].map(JSONValue.object) })
    }

    /// Adds what one file says.
    ///
    /// - Parameter rows: Of its metadata; the row `json` is an object with `vector_layers`.
    mutating func add(_ format: TileFormat?, rows: [String: String]) {
        if source?.format == nil { source = TileSourceMembers(rows: rows, format: format) }
        guard let json = rows["json"], case .object(let object)? = JSONValue(json: Array(json.utf8)),
            case .array(let layers)? = object["vector_layers"]
        else { return }
        for case .object(let layer) in layers {
            guard case .string(let id)? = layer["id"] else { continue }
            if byID[id] == nil { order.append(id) }
            byID[id] = Self.union(byID[id] ?? [:], layer)
        }
    }

    /// A layer of two files: the fields of both, and the zooms from the first to the last.
    private static func union(_ old: [String: JSONValue], _ new: [String: JSONValue]) -> [String: JSONValue] {
        var layer = old.merging(new) { first, _ in first }
        var fields: [String: JSONValue] = [:]
        for case .object(let some)? in [old["fields"], new["fields"]] { fields.merge(some) { first, _ in first } }
        // TileJSON 3.0.0 requires the member.
        layer["fields"] = .object(fields)
        if case .number(let one)? = old["minzoom"], case .number(let other)? = new["minzoom"] {
            layer["minzoom"] = .number(min(one, other))
        }
        if case .number(let one)? = old["maxzoom"], case .number(let other)? = new["maxzoom"] {
            layer["maxzoom"] = .number(max(one, other))
        }
        return layer
    }
}

extension TileReader {
    /// What the files of a tileset say about their tiles; a file that cannot be read says nothing.
    func layers(of tileset: String) -> InstalledLayers {
        var layers = InstalledLayers()
        for file in files.lazy.filter({ $0.isOf(tileset) }).prefix(InstalledLayers.maxFiles) {
            // Readers of its tiles report the damage.
            guard let said = try? file.metadata() else { continue }
            layers.add(said.format, rows: said.rows)
        }
        return layers
    }
}
