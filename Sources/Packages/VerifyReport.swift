/// What a verification found.
public struct VerifyReport: Sendable, Codable {
    /// The file.
    public let path: String
    /// Bytes of the file.
    public let size: UInt64
    /// How the file stores its tiles.
    public internal(set) var dialect: String = "unknown"
    /// Tiles in it.
    public internal(set) var tiles: UInt64 = 0
    /// Tiles per zoom, lowest first.
    public internal(set) var tilesPerZoom: [ZoomCount] = []
    /// Tiles of the mask that the file does not have; `nil` without a mask.
    ///
    /// They may be empty at the origin.
    public internal(set) var absent: UInt64?
    /// The metadata's `format`, when there is one.
    public internal(set) var format: String?
    /// `agg_tiles_hash`, computed from the tiles.
    public internal(set) var tilesHash: String = ""
    /// The first problems found, at most ``problemLimit``, in the order found.
    public private(set) var problems: [Problem] = []
    /// All problems found.
    public private(set) var problemCount = 0

    /// How many problems are kept.
    public static let problemLimit = 100

    /// Whether nothing is wrong with the file.
    public var isSound: Bool { problemCount == 0 }

    /// Tiles of one zoom.
    public struct ZoomCount: Sendable, Codable, Hashable {
        /// The zoom.
        public let zoom: Int
        /// Tiles.
        public let tiles: UInt64
    }

    /// One thing that is wrong.
    public struct Problem: Sendable, Codable, Hashable, CustomStringConvertible {
        /// A stable kebab-case word for the kind of problem.
        public let code: String
        /// Where: a tile as z/x/y, a metadata row, or a part of the file.
        public let place: String
        /// What was found and what was expected.
        public let message: String
        /// All of it in one line.
        public var description: String { "\(place): \(message) [\(code)]" }
    }

    init(path: String, size: UInt64) {
        self.path = path
        self.size = size
    }

    mutating func add(_ code: String, _ place: String, _ message: String) {
        problemCount += 1
        if problems.count < Self.problemLimit { problems.append(Problem(code: code, place: place, message: message)) }
    }
}
