internal import Tiles

/// The address of a tile server with {z}, {x} and {y}: finds the tile that an address asks for.
struct TileTemplate: Hashable, Sendable {
    private enum Part: Hashable {
        case text(String)
        case zoom, column, row, tmsRow
        /// `@2x`, or nothing.
        case ratio
        /// One of several names of the same server: a, b or c.
        case server
    }
    private let parts: [Part]

    /// Reads a template; `nil` for one without all of {z}, {x} and {y}, and for one with other placeholders.
    ///
    /// - Parameter isTMS: Whether {y} is counted from the south; {-y} always is.
    init?(_ text: String, isTMS: Bool = false) {
        let names: [String: Part] = [
            "{z}": .zoom, "{x}": .column, "{y}": isTMS ? .tmsRow : .row, "{-y}": .tmsRow, "{ratio}": .ratio,
            "{r}": .ratio, "{s}": .server,
        ]
        var parts: [Part] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            if start > rest.startIndex { parts.append(.text(String(rest[..<start]))) }
            guard let end = rest[start...].firstIndex(of: "}"), let part = names[String(rest[start...end])] else {
                return nil
            }
            // Two numbers side by side could be divided in several ways.
            if case .text? = parts.last {} else if !parts.isEmpty, part != .ratio, part != .server { return nil }
            parts.append(part)
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        guard parts.contains(.zoom), parts.contains(.column), parts.contains(.row) || parts.contains(.tmsRow) else {
            return nil
        }
        self.parts = parts
    }

    /// The tile of an address; `nil` when the address is not of this template.
    func tile(_ address: String) -> TileID? {
        var rest = address.utf8[...]
        var numbers: [Part: Int] = [:]
        for part in parts {
            switch part {
            case .text(let text):
                guard rest.starts(with: text.utf8) else { return nil }
                rest = rest.dropFirst(text.utf8.count)
            case .ratio:
                if rest.starts(with: "@2x".utf8) { rest = rest.dropFirst(3) }
            case .server:
                guard let name = rest.first, "abc".utf8.contains(name) else { return nil }
                rest = rest.dropFirst()
            default:
                let digits = rest.prefix { (0x30...0x39).contains($0) }
                guard digits.count <= 7, let number = Int(String(decoding: digits, as: UTF8.self)),
                    numbers[part] ?? number == number
                else { return nil }
                numbers[part] = number
                rest = rest.dropFirst(digits.count)
            }
        }
        guard rest.isEmpty, let zoom = numbers[.zoom], let column = numbers[.column] else { return nil }
        if let row = numbers[.row] { return TileID(zoom: zoom, x: column, y: row) }
        return numbers[.tmsRow].flatMap { TileID(zoom: zoom, x: column, tmsY: $0) }
    }

    /// The address of a tile.
    ///
    /// - Parameter isDense: Whether the screen has two pixels for each point: `{ratio}` becomes `@2x`.
    func address(of tile: TileID, isDense: Bool = false) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .zoom: "\(tile.zoom)"
            case .column: "\(tile.x)"
            case .row: "\(tile.y)"
            case .tmsRow: "\(tile.tmsY)"
            case .ratio: isDense ? "@2x" : ""
            // Always the same name for a tile, because caches know it by its address.
            case .server: ["a", "b", "c"][(tile.x + tile.y) % 3]
            }
        }.joined()
    }
}
