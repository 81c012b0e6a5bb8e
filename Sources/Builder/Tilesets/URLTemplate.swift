public import Errors
public import Tiles

/// A tile URL with placeholders.
///
/// `{z}` `{x}` `{y}`: the tile, y as the row order counts it; `{-y}`: y from the south; `{q}`: the quadkey; `{s}`: one of the
/// subdomains, the same for the same tile every time; `{language}` and `{key}`.
public struct URLTemplate: Sendable, Hashable {
    private enum Part: Hashable {
        case text(String)
        case zoom
        case column
        case row
        case southRow
        case quadkey
        case subdomain
        case language
        case key
    }

    private static let names: [String: Part] = [
        "z": .zoom, "x": .column, "y": .row, "-y": .southRow, "q": .quadkey, "s": .subdomain, "language": .language,
        "key": .key,
    ]

    /// The text it was made from.
    public let text: String
    private let parts: [Part]
    private let subdomains: [String]
    private let rowOrder: RowOrder

    /// Parses a template and checks every host it can expand to.
    ///
    /// - Parameter subdomains: What `{s}` stands for; empty = a, b, c.
    /// - Throws: ``TilesetsError`` `.badTemplate` naming the placeholder, or what ``HostPolicy`` throws.
    public init(_ text: String, subdomains: [String] = [], rowOrder: RowOrder = .xyz) throws(TilesetsError) {
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw TilesetsError(.badTemplate, "A tile URL holds a control character.")
        }
        self.text = text
        self.rowOrder = rowOrder
        self.subdomains = subdomains.isEmpty ? ["a", "b", "c"] : subdomains
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw TilesetsError(.badTemplate, "A tile URL has a '{' without a '}'.")
            }
            let name = String(rest[rest.index(after: open)..<close])
            guard let part = Self.names[name] else { throw Self.unknown(name) }
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
        let hasRow = parts.contains(.row) || parts.contains(.southRow)
        let missing = [
            parts.contains(.zoom) ? nil : "{z}", parts.contains(.column) ? nil : "{x}", hasRow ? nil : "{y} or {-y}",
        ].compactMap(\.self)
        guard missing.isEmpty || parts.contains(.quadkey) else {
            throw TilesetsError(
                .badTemplate,
                "A tile URL names no tile: it needs {z}, {x} and {y} (or {-y}), or {q}; this one lacks "
                    + "\(missing.joined(separator: ", ")).")
        }
        try checkHosts()
    }

    private func checkHosts() throws(TilesetsError) {
        guard let mark = text.firstRange(of: "://") else {
            throw TilesetsError(.badTemplate, "A tile URL must start with http:// or https://.")
        }
        let authority = text[mark.upperBound...].prefix { !"/?#\\".contains($0) }
        let needsSubdomain = parts.contains(.subdomain)
        guard !authority.replacing("{s}", with: "").contains("{") else {
            throw TilesetsError(.badTemplate, "Only {s} is allowed in the host of a tile URL.")
        }
        for subdomain in needsSubdomain ? subdomains : [""] {
            guard subdomain.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }) else {
                throw TilesetsError(.badTemplate, "A subdomain holds more than letters, digits, dots, and hyphens.")
            }
            try HostPolicy.check(text.replacing("{s}", with: subdomain))
        }
    }

    /// Whether the template asks for a language.
    public var needsLanguage: Bool { parts.contains(.language) }
    /// Whether the template asks for a key.
    public var needsKey: Bool { parts.contains(.key) }

    /// The URL of a tile.
    ///
    /// `language` and `key` are percent-encoded; missing ones become empty.
    public func expand(_ tile: TileID, language: String? = nil, key: String? = nil) -> String {
        var url = ""
        for part in parts {
            switch part {
            case .text(let text): url += text
            case .zoom: url += "\(tile.zoom)"
            case .column: url += "\(tile.x)"
            case .row: url += "\(rowOrder == .xyz ? tile.y : tile.tmsY)"
            case .southRow: url += "\(tile.tmsY)"
            case .quadkey: url += tile.quadkey
            case .subdomain: url += subdomains[(tile.x + tile.y) % subdomains.count]
            case .language: url += Self.escaped(language ?? "")
            case .key: url += Self.escaped(key ?? "")
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
