public import Errors
public import Tiles

/// A tile URL with placeholders.
///
/// ``TilePlaceholder`` has their names. ``TemplateSpelling`` turns what other programs write into them.
public struct URLTemplate: Sendable, Hashable {
    private enum Part: Hashable {
        case text(String)
        case placeholder(TilePlaceholder)
        /// The words of zooms, from the first zoom on.
        case zoomWords(first: Int, words: [String])
    }

    /// The width and height of pictures of a tileset that does not say them, in pixels.
    public static let usualTileSize = 256

    /// The text it was made from.
    public let text: String
    private let parts: [Part]
    private let subdomains: [String]
    private let rowOrder: RowOrder
    private let tileSize: Int

    /// Parses a template and checks every host it can expand to.
    ///
    /// - Parameters:
    ///   - subdomains: What `{s}` stands for; empty = a, b, c.
    ///   - tileSize: Width and height of the pictures in pixels, which `{width}`, `{height}` and `{ratio}` stand for.
    /// - Throws: ``TilesetsError`` `.badTemplate` naming the placeholder, or what ``HostPolicy`` throws.
    public init(
        _ text: String, subdomains: [String] = [], rowOrder: RowOrder = .xyz, tileSize: Int = URLTemplate.usualTileSize
    ) throws(TilesetsError) {
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw TilesetsError(.badTemplate, "A tile URL holds a control character.")
        }
        self.text = text
        self.rowOrder = rowOrder
        self.tileSize = tileSize
        self.subdomains = subdomains.isEmpty ? ["a", "b", "c"] : subdomains
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw TilesetsError(.badTemplate, "A tile URL has a '{' without a '}'.")
            }
            let name = String(rest[rest.index(after: open)..<close])
            guard let part = Self.part(name) else { throw Self.unknown(name) }
            guard rest[..<open].last != "$" else {
                throw TilesetsError(
                    .badTemplate,
                    "A tile URL has '$' before {\(name)}, which would be requested as a '$'; write {\(name)} alone.")
            }
            parts.append(.text(Self.sendable(rest[..<open])))
            parts.append(part)
            rest = rest[rest.index(after: close)...]
        }
        parts.append(.text(Self.sendable(rest)))
        self.parts = parts
        try checkTile()
        try checkHosts()
    }

    private static func part(_ name: String) -> Part? {
        if let placeholder = TilePlaceholder(name) { return .placeholder(placeholder) }
        guard name.hasPrefix("z:"), let equals = name.firstIndex(of: "="),
            let first = Int(name[name.index(name.startIndex, offsetBy: 2)..<equals]),
            (0...TileID.maxZoom).contains(first)
        else { return nil }
        let words = name[name.index(after: equals)...].split(separator: ",").map(String.init)
        return words.isEmpty ? nil : .zoomWords(first: first, words: words)
    }

    private func has(_ wanted: Set<TilePlaceholder>) -> Bool {
        parts.contains { if case .placeholder(let placeholder) = $0 { wanted.contains(placeholder) } else { false } }
    }

    /// Whether the template names a tile wholly, and in one way of counting rows.
    private func checkTile() throws(TilesetsError) {
        let namesWhole = has([.quadkey, .box])
        if namesWhole, rowOrder == .tms {
            throw TilesetsError(
                .badTemplate,
                "A tile URL has \(has([.box]) ? "{bbox-epsg-3857}" : "{q}"), which counts no rows, together with scheme: tms; remove scheme."
            )
        }
        let hasZoom = has([.zoom]) || parts.contains { if case .zoomWords = $0 { true } else { false } }
        let missing = [
            hasZoom ? nil : "{z}", has([.column]) ? nil : "{x}", has([.row, .southRow]) ? nil : "{y} or {-y}",
        ].compactMap(\.self)
        guard missing.isEmpty || namesWhole else {
            throw TilesetsError(
                .badTemplate,
                "A tile URL names no tile: it needs {z}, {x} and {y} (or {-y}), or {q}, or {bbox-epsg-3857}; this one lacks "
                    + "\(missing.joined(separator: ", ")).")
        }
    }

    private func checkHosts() throws(TilesetsError) {
        guard let mark = text.firstRange(of: "://") else {
            throw TilesetsError(.badTemplate, "A tile URL must start with http:// or https://.")
        }
        let authority = text[mark.upperBound...].prefix { !"/?#\\".contains($0) }
        guard !authority.replacing("{s}", with: "").contains("{") else {
            throw TilesetsError(.badTemplate, "Only {s} is allowed in the host of a tile URL.")
        }
        for subdomain in has([.subdomain]) ? subdomains : [""] {
            guard subdomain.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }) else {
                throw TilesetsError(.badTemplate, "A subdomain holds more than letters, digits, dots, and hyphens.")
            }
            try HostPolicy.check(text.replacing("{s}", with: subdomain))
        }
    }

    /// Whether the template asks for a language.
    public var needsLanguage: Bool { has([.language]) }
    /// Whether the template asks for a key.
    public var needsKey: Bool { has([.key]) }

    /// The URL of a tile.
    ///
    /// `language` and `key` are percent-encoded; missing ones become empty.
    public func expand(_ tile: TileID, language: String? = nil, key: String? = nil) -> String {
        var url = ""
        for part in parts {
            switch part {
            case .text(let text): url += text
            case .zoomWords(let first, let words):
                let place = tile.zoom - first
                url += words.indices.contains(place) ? words[place] : "\(tile.zoom)"
            case .placeholder(.zoom): url += "\(tile.zoom)"
            case .placeholder(.column): url += "\(tile.x)"
            case .placeholder(.row): url += "\(rowOrder == .xyz ? tile.y : tile.tmsY)"
            case .placeholder(.southRow): url += "\(tile.tmsY)"
            case .placeholder(.quadkey): url += tile.quadkey
            case .placeholder(.box): url += tile.mercatorBox
            case .placeholder(.width), .placeholder(.height): url += "\(tileSize)"
            case .placeholder(.ratio): url += tileSize > Self.usualTileSize ? "@2x" : ""
            case .placeholder(.prefix):
                url += String(tile.x % 16, radix: 16) + String(tile.y % 16, radix: 16)
            case .placeholder(.subdomain): url += subdomains[(tile.x + tile.y) % subdomains.count]
            case .placeholder(.language): url += Self.escaped(language ?? "")
            case .placeholder(.key): url += Self.escaped(key ?? "")
            }
        }
        return url
    }

    /// Percent-encodes characters that are not allowed in a URL: spaces, and all that are not ASCII.
    private static func sendable(_ text: Substring) -> String {
        text.unicodeScalars.map { $0.isASCII && $0 != " " ? String($0) : escaped(String($0)) }.joined()
    }

    /// Percent-encodes everything but the unreserved characters of RFC 3986.
    static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        var escaped = ""
        for byte in text.utf8 {
            let scalar = Character(UnicodeScalar(byte))
            if byte < 0x80, scalar.isLetter || scalar.isNumber || "-._~".contains(scalar) {
                escaped.append(scalar)
            } else {
                escaped += "%"
                escaped.append(digits[Int(byte >> 4)])
                escaped.append(digits[Int(byte & 15)])
            }
        }
        return escaped
    }
}

extension TileID {
    /// West, south, east and north of the tile in EPSG:3857, in metres, as `{bbox-epsg-3857}` has them: the shortest decimal
    /// numbers of the doubles, on a sphere of radius 6,378,137 m.
    package var mercatorBox: String {
        let half = WebMercator.worldWidth / 2
        let side = WebMercator.worldWidth / Double(1 << zoom)
        func text(_ number: Double) -> String { number == 0 ? "0" : "\(number)" }
        let (west, east) = (Double(x) * side - half, Double(x + 1) * side - half)
        let (south, north) = (half - Double(y + 1) * side, half - Double(y) * side)
        return "\(text(west)),\(text(south)),\(text(east)),\(text(north))"
    }
}
