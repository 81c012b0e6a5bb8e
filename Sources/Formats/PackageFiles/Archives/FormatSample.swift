internal import TileBodies

/// Finds the format of an archive's tiles by the first of its bodies; what the metadata say decides only in doubt.
///
/// Metadata of other programs often have another word than the bodies, or none.
struct FormatSample {
    /// Bodies that are looked at, where none is recognised.
    static let maxBodies = 64
    /// Recognised bodies that are enough.
    private static let enough: UInt64 = 16
    /// Bytes that are looked at, so that huge bodies do not take long.
    private static let maxBytes = 64 << 20

    /// What the metadata say.
    private let hint: TileFormat?
    private var counts: [TileFormat: UInt64] = [:]
    private var bodies = 0
    /// Whether there is a vector tile without layers: its encoding is known by other tiles.
    private var hasEmpty = false
    private var bytes = 0
    /// What the first body of no known format is, in words that follow "its tiles are".
    private(set) var otherKind: String?

    init(hint: TileFormat?) { self.hint = hint }

    /// Looks at a body.
    ///
    /// - Returns: Whether more of them can change the answer.
    mutating func add(_ body: [UInt8]) -> Bool {
        bodies += 1
        bytes += body.count
        if TileFormat.hasNoLayers(body) {
            hasEmpty = true
        } else if let found = TileFormat(content: body) {
            counts[found, default: 0] += 1
            if found == hint { return false }
        } else if !body.isEmpty {
            otherKind = otherKind ?? TileFormat.otherKind(of: body)
        }
        return bodies < Self.maxBodies && bytes < Self.maxBytes && counts.values.reduce(0, +) < Self.enough
    }

    /// The format that the metadata say, if a body is of it; else that of the most bodies; else what the metadata say.
    var format: TileFormat? {
        if let hint, counts[hint] != nil { return hint }
        if counts.isEmpty, hasEmpty { return hint?.traits.isVector == true ? hint : .mvt }
        return counts.mostFrequent ?? hint
    }
}
