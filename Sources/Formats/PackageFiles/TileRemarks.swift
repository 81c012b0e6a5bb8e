internal import TextFormats

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
        func line(_ count: UInt64, of noun: String, one: String, many: String) -> String? {
            count > 0 ? "\(Units.count(count, of: noun)) \(count == 1 ? one : many)" : nil
        }
        return [
            line(unusable, of: "tile", one: "cannot be used and is left out", many: "cannot be used and are left out"),
            line(
                repeated, of: "row", one: "repeats a tile with the same body", many: "repeat a tile with the same body"),
            line(
                otherPictures, of: "tile", one: "is a picture of another format than the others",
                many: "are pictures of another format than the others"),
        ].compactMap(\.self)
    }

    /// Counts tiles that cannot be used, and keeps the problem when it is one of the first.
    package mutating func add(_ problem: VerifyReport.Problem, tiles: UInt64 = 1) {
        unusable += tiles
        if examples.count < Self.maxExamples { examples.append(problem) }
    }

    /// Counts a row that repeats a tile with the same body.
    package mutating func addRepeated() { repeated += 1 }

    /// Counts pictures of another format than that of the file.
    package mutating func add(otherPictures: UInt64) { self.otherPictures += otherPictures }
}
