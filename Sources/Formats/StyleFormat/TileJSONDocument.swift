internal import TextFormats

/// The values that a client uses from a TileJSON document.
public struct TileJSONDocument: Sendable, Hashable {
    /// The first of `tiles`: clients use no other.
    public let template: String
    /// Whether rows are counted from the south.
    public let isTMS: Bool
    /// `encoding` of the tiles; `nil` = the default of the source.
    public let encoding: String?
    /// The zooms that it declares.
    public let minZoom, maxZoom: Int?

    /// Reads a document; `nil` if it is not a TileJSON document with tiles.
    public init?(_ bytes: [UInt8]) {
        guard case .object(let root)? = JSONValue(json: bytes), case .array(let tiles)? = root["tiles"],
            case .string(let first)? = tiles.first
        else { return nil }
        template = first
        isTMS = root["scheme"] == .string("tms")
        if case .string(let text)? = root["encoding"] { encoding = text } else { encoding = nil }
        minZoom = StyleDocument.whole(root["minzoom"], 0...30)
        maxZoom = StyleDocument.whole(root["maxzoom"], 0...30)
    }

    /// The document with absolute tile URLs; the same bytes when it has no others.
    static func absolute(_ bytes: [UInt8], base: String) throws(StylesError) -> [UInt8] {
        guard case .object(var root)? = JSONValue(json: bytes), case .array(let tiles)? = root["tiles"] else {
            return bytes
        }
        var changed: [JSONValue] = []
        for tile in tiles {
            guard case .string(let text) = tile else { continue }
            changed.append(.string(try URLReference.resolve(text, against: base)))
        }
        guard changed != tiles else { return bytes }
        root["tiles"] = .array(changed)
        return try OfflineStyle.rewritten { [root] in try OfflineStyle.encoded(root) }
    }
}
