public import Errors

extension BoundingBox: CustomStringConvertible {
    /// "west,south,east,north" with as many digits as are needed to read the same box back.
    public var description: String { "\(west),\(south),\(east),\(north)" }

    /// Reads "w,s,e,n", "bbox(w,s,e,n)" or "[w,s,e,n]", degrees; the numbers may also be divided by spaces or semicolons.
    ///
    /// - Throws: ``TilesError`` `.badBox` naming what was found.
    public init(parsing text: String) throws(TilesError) {
        var inner = Self.trimmed(text[...])
        let isNamed = inner.lowercased().hasPrefix("bbox")
        if isNamed { inner = Self.trimmed(inner.dropFirst(4).drop { "=:".contains($0) }) }
        if let end = inner.first.flatMap({ Self.brackets[$0] }) ?? (isNamed ? ")" : nil) {
            guard let first = inner.first, Self.brackets[first] == end, inner.last == end else {
                throw TilesError(
                    .badBox, "Bounding box '\(text.prefix(80))' has a missing or wrong bracket; \(Self.expected).")
            }
            inner = Self.trimmed(inner.dropFirst().dropLast())
        }
        let divider: Character? = [",", ";"].first { inner.contains($0) }
        let parts =
            divider.map { inner.split(separator: $0, omittingEmptySubsequences: false).map(Self.trimmed) }
            ?? inner.split(whereSeparator: \.isWhitespace)
        guard parts.count == 4 else {
            throw TilesError(
                .badBox, "Bounding box '\(text.prefix(80))' has \(parts.count) numbers instead of 4; \(Self.expected).")
        }
        var numbers: [Double] = []
        for part in parts {
            guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }),
                let number = Double(part)
            else {
                throw TilesError(
                    .badBox, "Bounding box '\(text.prefix(80))' has '\(part)' for a number; \(Self.expected).")
            }
            numbers.append(number)
        }
        try self.init(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
    }

    private static let brackets: [Character: Character] = ["(": ")", "[": "]", "{": "}"]

    private static let expected = "expected 'west,south,east,north' or 'bbox(west,south,east,north)' in degrees"

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension BoundingBox: Codable {
    /// Reads `[west, south, east, north]` and refuses what ``init(west:south:east:north:)`` refuses.
    public init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        try self.init(
            west: values.decode(Double.self), south: values.decode(Double.self), east: values.decode(Double.self),
            north: values.decode(Double.self))
    }

    /// Writes `[west, south, east, north]`, as TileJSON and GeoJSON do.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.unkeyedContainer()
        for value in [west, south, east, north] { try values.encode(value) }
    }
}
