/// The result of a verification.
public struct VerifyReport: Sendable, Codable {
    /// The file.
    public let path: String
    /// Bytes of the file.
    public let size: UInt64
    /// What kind of file it is: "MBTiles", "PMTiles", "MapLibre".
    public let kind: String
    /// Whether it is a patch between two packages; its tiles are what changed.
    public package(set) var isPatch = false
    /// How the file stores its tiles.
    public package(set) var dialect: String = "unknown"
    /// The result of the seal check.
    public package(set) var seal: Seal = .none
    /// Tiles in it.
    public package(set) var tiles: UInt64 = 0
    /// Tiles per zoom, lowest first.
    public package(set) var tilesPerZoom: [ZoomCount] = []
    /// Tiles of the mask that the file does not have; `nil` without a mask.
    ///
    /// They may not exist at the origin.
    public package(set) var absent: UInt64?
    /// The metadata's `format`, when there is one.
    public package(set) var format: String?
    /// `agg_tiles_hash`, computed from the tiles.
    public package(set) var tilesHash: String = ""
    /// The first problems found, at most ``problemLimit``, in the order found.
    public private(set) var problems: [Problem] = []
    /// All problems found.
    public private(set) var problemCount = 0

    /// How many problems are kept.
    public static let problemLimit = 100

    /// Whether no problem was found.
    public var isVerified: Bool { problemCount == 0 }

    /// The state of the file's seal.
    public enum Seal: String, Sendable, Codable, Hashable {
        /// The file has no seal: another program or an older Packhorse wrote it.
        case none
        /// The seal matches: every byte is unchanged.
        case valid
        /// The seal does not match: some byte has changed.
        case broken
    }

    /// Tiles of one zoom.
    public struct ZoomCount: Sendable, Codable, Hashable {
        /// The zoom.
        public let zoom: Int
        /// Tiles.
        public let tiles: UInt64
        package init(zoom: Int, tiles: UInt64) {
            self.zoom = zoom
            self.tiles = tiles
        }
    }

    /// One problem.
    public struct Problem: Sendable, Codable, Hashable, CustomStringConvertible {
        /// A stable kebab-case word for the kind of problem.
        public let code: String
        /// Where: a tile as z/x/y, a metadata row, or a part of the file.
        public let place: String
        /// The found and the expected value.
        public let message: String
        /// The whole problem in one line.
        public var description: String { "\(place): \(message) [\(code)]" }
    }

    package init(path: String, size: UInt64, kind: String) {
        self.path = path
        self.size = size
        self.kind = kind
    }

    package mutating func add(_ code: String, at place: String, because message: String) {
        problemCount += 1
        if problems.count < Self.problemLimit { problems.append(Problem(code: code, place: place, message: message)) }
    }
}
