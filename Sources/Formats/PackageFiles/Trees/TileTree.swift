package import Digests
package import Errors
package import TileBodies
package import Tiles

/// Files with tiles under the names `zoom/column/row.ENDING`, rows from the north, and one `tiles.json`: a folder or a ZIP archive.
package protocol TileTree: AnyObject {
    /// What reports call it.
    var kind: String { get }
    /// Bytes of all files together.
    var size: UInt64 { get }
    /// Files that are neither tiles nor `tiles.json`, or cannot be read.
    var strange: [VerifyReport.Problem] { get }
    /// Whether every byte beside the contents of the files is as Packhorse writes it; known when all of them were read.
    var isExact: Bool { get }
    /// Calls `each` with every file that may be part of the tree.
    ///
    /// - Throws: ``ArchiveError``, and what `each` throws.
    func files(_ each: (TreeFile) throws -> Void) throws
    /// The bytes of a file.
    ///
    /// - Throws: ``ArchiveError`` `bad-archive` when they are damaged.
    func bytes(of file: TreeFile) throws(ArchiveError) -> [UInt8]
    /// The SHA-256 that identifies the tree: of the archive, of a folder's `tiles.json`, whose seal covers everything else.
    func digest() throws -> Digest
}

/// One file of a tree.
package struct TreeFile {
    /// The path inside of the tree.
    package let name: String
    /// Where it is, in the tree's own words.
    package let place: UInt64
    /// Its size, in the tree's own words.
    package let length: UInt64
}

/// The names of files in a tree.
package enum TreePath {
    /// The file with the facts about all tiles.
    package static let metadata = "tiles.json"

    /// The path of a tile.
    package static func name(_ tile: TileID, _ format: TileFormat) -> String { name(tile, ending: ending(format)) }

    /// The path of a tile whose name ends with a text, without a dot.
    package static func name(_ tile: TileID, ending: String) -> String { "\(tile).\(ending)" }

    /// What the name of a tile ends with, without a dot.
    package static func ending(_ format: TileFormat) -> String { format.traits.suffixes.first ?? format.rawValue }

    /// The refusal of a file that would take too much memory.
    static func tooLarge(_ name: String, _ size: UInt64) -> ArchiveError {
        ArchiveError(.badArchive, "'\(name.prefix(100))' has \(size) bytes; the limit is \(Gzip.defaultLimit).")
    }

    /// The tile and the ending of a path; `nil` for every path that ``name(_:ending:)`` does not make.
    package static func parse(_ name: String) -> (tile: TileID, ending: String)? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let place = String(name[..<dot])
        guard let tile = TileID(place), tile.description == place else { return nil }
        return (tile, String(name[name.index(after: dot)...]))
    }
}
