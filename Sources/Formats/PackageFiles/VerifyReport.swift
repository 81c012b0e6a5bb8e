public import Digests
internal import Errors
internal import Foundation
internal import TextFormats
package import TileBodies
package import Tiles

/// The result of a verification.
public struct VerifyReport: Sendable, Codable {
    /// The file.
    public let path: String
    /// Bytes of the file.
    public let size: UInt64
    /// What kind of file it is: "MBTiles", "PMTiles", "MapLibre", "GeoPackage", "ZIP", "folder".
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
    /// Those of the problems that make the whole file unusable; the others are about single tiles, or the metadata.
    public private(set) var damageCount = 0
    /// Tiles that cannot be used: there is no such place, no body, or the body is no tile.
    public private(set) var unusable: UInt64 = 0
    /// Pictures of another format than that of the file; they are tiles like the others.
    public package(set) var otherPictures: UInt64 = 0

    /// The bodies that most tiles have; `nil` when they were not counted, or when all bodies are rare.
    public package(set) var bodies: [FrequentBody]?

    /// What the file says about itself; `nil` when that was not read, or when it says nothing.
    public package(set) var about: FileDescription?

    /// Reads what the file says about itself.
    ///
    /// - Throws: Errors of reading the file.
    public mutating func describe() throws {
        about = try TileArchives.readable(URL(filePath: path)).flatMap { FileDescription(rows: try $0.facts().rows) }
    }

    /// Counts the bodies of the file.
    ///
    /// - Throws: Errors of reading the file.
    public mutating func countBodies() throws {
        let found = try BodyCensus.frequent(in: URL(filePath: path), tiles: tiles)
        bodies = found.isEmpty ? nil : found
    }

    /// How many problems are kept.
    public static let problemLimit = 100

    /// Whether no problem was found.
    public var isVerified: Bool { problemCount == 0 }

    /// Whether another program wrote the file of tiles, as far as its seal says.
    public var isForeign: Bool { seal == .none && kind != "MapLibre" }

    /// Whether every command takes the file: no problem in a sealed one; in one of another program none that makes the
    /// whole file unusable, and a tile that can be used (docs/decisions/0077).
    public var isUsable: Bool {
        isForeign && !isPatch ? damageCount == 0 && tiles > unusable : isVerified
    }

    /// Problems that a file of another program may have: every reader passes over them.
    static let tolerated: Set<String> = [
        "bad-header", "bad-metadata", "no-metadata", "no-vector-layers", "unknown-format", "wrong-format",
        "not-canonical", "wal-mode", "side-file", "outside-zooms", "wrong-count", "bad-tile", "no-body", "lost-body",
        "twice", "html-page", "wrong-type", "truncated", "too-large", "bad-coding", "bad-mvt", "bad-mlt", "bad-image",
        "empty-body",
    ]

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
        let problem = Problem(code: code, place: place, message: message)
        let isDamage = !Self.tolerated.contains(code)
        problemCount += 1
        if isDamage { damageCount += 1 }
        if problems.count < Self.problemLimit {
            problems.append(problem)
        } else if isDamage {
            // What makes the file unusable is shown, however many tiles were named before.
            problems[Self.problemLimit - 1] = problem
        }
    }

    /// The first problem that makes the file unusable; in a file that Packhorse sealed, the first of all.
    public var damage: Problem? {
        isForeign && !isPatch ? problems.first { !Self.tolerated.contains($0.code) } : problems.first
    }

    /// Adds a problem of tiles that cannot be used.
    package mutating func addUnusable(_ code: String, at place: String, because message: String, tiles: UInt64 = 1) {
        unusable += tiles
        add(code, at: place, because: message)
    }
}

extension VerifyReport.Problem {
    /// A body that is no tile.
    package init(_ error: TileBodiesError, of tile: TileID) {
        self.init(
            code: error.code == .emptyBody ? "no-body" : error.code.rawValue, place: "\(tile)", message: error.message)
    }

    /// Tiles whose bodies are missing.
    package static func ofLostBodies(_ count: Int) -> Self {
        .init(
            code: "lost-body", place: "file",
            message:
                "\(Units.count(count, of: "tile")) \(count == 1 ? "refers" : "refer") to a body that does not exist")
    }
}
