internal import Foundation

/// What a file of tiles says about itself, as far as people ask for it.
///
/// The words are those of the file, at most ``maxWord`` characters each; they are not checked.
public struct FileDescription: Sendable, Codable, Hashable {
    /// The name for people.
    public let name: String?
    /// More words about the file.
    public let description: String?
    /// Who is named beside the map; can be HTML.
    public let attribution: String?
    /// The version that the file names.
    public let version: String?
    /// West, south, east, north in degrees, as the file writes them.
    public let bounds: String?
    /// Names of the layers of vector tiles, in the order of the file; at most ``maxLayers``.
    public let layers: [String]?

    private static let maxWord = 1_000
    private static let maxLayers = 200

    /// - Parameter rows: Metadata as the rows of an MBTiles file.
    /// - Returns: `nil` when the file says nothing.
    init?(rows: [String: String]) {
        func word(_ key: String) -> String? {
            let text = rows[key]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
            return text.isEmpty ? nil : String(text.prefix(Self.maxWord))
        }
        (name, description, attribution) = (word("name"), word("description"), word("attribution"))
        (version, bounds) = (word("version"), word("bounds"))
        // Another text has no layers; `verify` names it.
        let json = rows["json"].flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) } as? [String: Any]
        let named = (json?["vector_layers"] as? [Any])?.compactMap { ($0 as? [String: Any])?["id"] as? String }
        layers = named.flatMap { names in
            names.isEmpty ? nil : names.prefix(Self.maxLayers).map { String($0.prefix(Self.maxWord)) }
        }
        guard [name, description, attribution, version, bounds].contains(where: { $0 != nil }) || layers != nil else {
            return nil
        }
    }
}
