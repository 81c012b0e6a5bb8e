internal import Foundation

/// The row `json` of a third-party file with vector tiles: its layers, and everything else that is in it.
struct ForeignLayers {
    private let members: [String: Any]
    private let layers: [[String: Any]]
    /// Whether there are layers, and each has an id and fields, so that none have to be found.
    let areComplete: Bool

    /// - Parameter json: The text; one that is no JSON, or no object, has no members.
    init(_ json: String?) {
        // Metadata that is no JSON names no layers.
        let value: Any? = json.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) }
        members = value as? [String: Any] ?? [:]
        // Some writers have the array alone.
        let list = members["vector_layers"] as? [Any] ?? value as? [Any]
        layers = (list ?? []).compactMap { $0 as? [String: Any] }.filter { $0["id"] is String }
        areComplete =
            members["vector_layers"] is [Any] && layers.count == list?.count
            && layers.allSatisfy { $0["fields"] is [String: Any] }
    }

    /// The text with the layers that were found added where they lack, and everything else kept.
    ///
    /// - Parameter found: JSON text of an array of layers.
    func completed(with found: String) -> String {
        // It was written by this program.
        let value = try? JSONSerialization.jsonObject(with: Data(found.utf8))
        let foundLayers = value as? [[String: Any]] ?? []
        var known = Dictionary(
            foundLayers.compactMap { layer in (layer["id"] as? String).map { ($0, layer) } }
        ) { first, _ in first }
        var result: [[String: Any]] = []
        for layer in layers {
            guard let id = layer["id"] as? String else { continue }
            let other = known.removeValue(forKey: id) ?? ["fields": [String: String]()]
            var merged = layer.merging(other) { given, _ in given }
            if !(merged["fields"] is [String: Any]) { merged["fields"] = other["fields"] }
            result.append(merged)
        }
        result += foundLayers.filter { ($0["id"] as? String).map { known[$0] != nil } == true }
        var all = members
        all["vector_layers"] = result
        // Members of JSON texts can be written as JSON again.
        let data = try? JSONSerialization.data(withJSONObject: all, options: [.sortedKeys, .withoutEscapingSlashes])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? #"{"vector_layers":\#(found)}"#
    }
}
