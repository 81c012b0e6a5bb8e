public import Errors

/// A run of zooms, both ends included, within 0...22.
public struct ZoomRange: Hashable, Sendable {
    /// The shallowest zoom.
    public let min: Int
    /// The deepest zoom.
    public let max: Int

    /// Makes a range, or `nil` unless 0 <= min <= max <= 22.
    public init?(min: Int, max: Int) {
        guard min >= 0, min <= max, max <= TileID.maxZoom else { return nil }
        self.min = min
        self.max = max
    }

    /// All zooms, 0...22.
    public static let all = ZoomRange(trusted: 0, TileID.maxZoom)

    init(trusted min: Int, _ max: Int) {
        self.min = min
        self.max = max
    }

    /// Reads "5" or "0-14"; spaces around the numbers are allowed.
    ///
    /// - Throws: ``TilesError`` `.badZoom` naming what was found.
    public init(parsing text: String) throws(TilesError) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            .map { $0.split(separator: " ").joined(separator: " ") }
        let numbers = parts.compactMap { part in part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil }
        guard (1...2).contains(parts.count), numbers.count == parts.count, let first = numbers.first,
            let last = numbers.last, let range = ZoomRange(min: first, max: last)
        else {
            throw TilesError(
                .badZoom,
                "Zoom range '\(text.prefix(40))' cannot be read; write one zoom ('5') or two with a dash ('0-14'), "
                    + "the smaller first, each within 0...\(TileID.maxZoom).")
        }
        self = range
    }

    /// Whether a zoom lies in the range.
    public func contains(_ zoom: Int) -> Bool { min <= zoom && zoom <= max }

    /// The zooms that lie in both ranges, `nil` when there are none.
    public func intersection(_ other: ZoomRange) -> ZoomRange? {
        ZoomRange(min: Swift.max(min, other.min), max: Swift.min(max, other.max))
    }
}

extension ZoomRange: Sequence {
    /// Walks the zooms from the shallowest to the deepest.
    public func makeIterator() -> ClosedRange<Int>.Iterator { (min...max).makeIterator() }
}

extension ZoomRange: CustomStringConvertible {
    /// "5" or "0-14"; ``init(parsing:)`` reads it back.
    public var description: String { min == max ? "\(min)" : "\(min)-\(max)" }
}

extension ZoomRange: Codable {
    private enum CodingKeys: String, CodingKey { case min, max }

    /// Reads `{"min": 0, "max": 14}` and refuses zooms out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let (min, max) = (try values.decode(Int.self, forKey: .min), try values.decode(Int.self, forKey: .max))
        guard let range = ZoomRange(min: min, max: max) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "Zooms \(min)...\(max) are not within 0...\(TileID.maxZoom)."))
        }
        self = range
    }

    /// Writes `{"min": 0, "max": 14}`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(min, forKey: .min)
        try values.encode(max, forKey: .max)
    }
}
