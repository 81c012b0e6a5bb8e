/// What was left out of a file of another program, or was taken in another form than the file says.
///
/// One rule for all commands: what can be used is kept, what cannot is left out, counted and named (docs/decisions/0077).
public struct TileRemarks: Sendable, Hashable {
    /// Tiles that cannot be used: there is no such place, no body, or the body is no tile.
    public private(set) var unusable: UInt64 = 0
    /// Rows that repeat a tile with the same body.
    public private(set) var repeated: UInt64 = 0
    /// Pictures of another format than that of the file; they are kept as they are.
    public private(set) var otherPictures: UInt64 = 0
    /// The first of those that cannot be used, at most ``maxExamples``.
    public private(set) var examples: [VerifyReport.Problem] = []

    /// How many examples are kept.
    public static let maxExamples = 20

    /// Nothing to say.
    public init() {}

    /// Whether there is nothing to say.
    public var isEmpty: Bool { unusable == 0 && repeated == 0 && otherPictures == 0 }

    /// What there is to say, one thing in a line.
    public var lines: [String] {
        var lines: [String] = []
        if unusable > 0 {
            lines.append(
                "\(unusable) \(unusable == 1 ? "tile" : "tiles") cannot be used and \(unusable == 1 ? "is" : "are") left out"
            )
        }
        if repeated > 0 {
            lines.append("\(repeated) \(repeated == 1 ? "row repeats" : "rows repeat") a tile with the same body")
        }
        if otherPictures > 0 {
            lines.append(
                "\(otherPictures) \(otherPictures == 1 ? "tile is a picture" : "tiles are pictures") of another format than the others"
            )
        }
        return lines
    }

    package mutating func add(_ problem: VerifyReport.Problem, tiles: UInt64 = 1) {
        unusable += tiles
        if examples.count < Self.maxExamples { examples.append(problem) }
    }

    package mutating func addRepeated() { repeated += 1 }

    package mutating func addOtherPicture() { otherPictures += 1 }
}
