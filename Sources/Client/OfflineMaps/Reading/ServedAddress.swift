internal import Foundation
internal import Tiles

/// The addresses of a style that a server on the device serves.
///
/// Below the server's own address, `tiles/TILESET/Z/X/Y` is a tile of the store, and `https/HOST/PATH?QUERY` is what the
/// style had as `https://HOST/PATH?QUERY`. Nothing is decoded, so placeholders and suffixes of clients stay as they are.
enum ServedAddress: Hashable {
    case tile(tileset: String, TileID)
    case original(URL)

    /// The address for an absolute address; the same one for schemes other than http and https.
    static func address(_ original: String, below base: String) -> String {
        for scheme in ["https", "http"] where original.hasPrefix("\(scheme)://") {
            return "\(base)/\(scheme)/\(original.dropFirst(scheme.count + 3))"
        }
        return original
    }

    /// The template for the tiles of a tileset.
    static func template(_ tileset: String, below base: String) -> String {
        "\(base)/tiles/\(encoded(tileset))/{z}/{x}/{y}"
    }

    /// Reads the part below the server's address, with its query; `nil` for anything else.
    init?(_ path: String) {
        let path = path.drop { $0 == "/" }
        let parts = path.partsBetweenSlashes(maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "https", "http":
            guard let url = URL(string: "\(parts[0])://\(parts[1])"), url.host != nil else { return nil }
            self = .original(url)
        case "tiles":
            let fields = parts[1].prefix { $0 != "?" }.partsBetweenSlashes()
            guard fields.count == 4, let tileset = fields[0].removingPercentEncoding, !tileset.isEmpty,
                let zoom = Int(fields[1]), let column = Int(fields[2]), let row = Int(fields[3].prefix { $0 != "." }),
                let tile = TileID(zoom: zoom, x: column, y: row)
            else { return nil }
            self = .tile(tileset: tileset, tile)
        default: return nil
        }
    }

    /// A text as one part of an address.
    static func encoded(_ text: String) -> String {
        var plain = CharacterSet.alphanumerics
        plain.formIntersection(CharacterSet(charactersIn: "\u{21}"..."\u{7E}"))
        plain.insert(charactersIn: "-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? text
    }
}
