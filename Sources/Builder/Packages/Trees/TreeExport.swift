internal import Digests
internal import Foundation
internal import PackageFiles
internal import TileBodies
internal import Tiles

/// Writes a package as files under `zoom/column/row.ENDING` with a `tiles.json`: in a folder, or in a ZIP archive.
///
/// Vector tiles are stored unpacked: a web server that knows nothing of tiles serves them so that every map library reads them.
enum TreeExport {
    /// Writes the tiles in the order of zoom, column and row from the north, then `tiles.json` with the seal, flushes, and reads back.
    ///
    /// - Parameter writer: Makes the target.
    /// - Returns: Tiles written, and the SHA-256 that identifies the target.
    static func write(
        _ feed: TileFeed, to url: URL, into writer: (URL) throws -> some TreeWriter, progress: (UInt64) throws -> Void
    ) throws -> (tiles: UInt64, digest: Digest) {
        let writer = try writer(url)
        var (seal, tiles) = (TreeSeal(), UInt64(0))
        let isPacked = feed.format.traits.coding != .identity
        try feed.inNorthOrder { tile in
            var body = try tile.body()
            if isPacked { body = try feed.format.traits.coding.unpack(body, limit: Gzip.defaultLimit) }
            let name = TreePath.name(tile.tile, feed.format)
            try writer.add(name, body)
            seal.add(name, body)
            tiles += 1
            if tiles % 1_024 == 0 { try progress(tiles) }
        }
        guard tiles > 0 else {
            throw PackagesError(.unsupported, "The package has no tiles; a folder or ZIP archive needs at least one.")
        }
        guard let text = seal.sealed(try TreeMetadata(rows: feed.rows, format: feed.format).text()) else {
            throw PackagesError(
                .verificationFailed, "'\(TreePath.metadata)' has no place for its seal; this is a bug in Packhorse.")
        }
        try writer.add(TreePath.metadata, text)
        try writer.finish()
        try progress(tiles)
        let report = try TreeVerify.run(url, mask: nil)
        try Sealing.refuse(report.problems.map(\.description))
        guard report.seal == .valid, report.tiles == tiles else {
            throw PackagesError(
                .verificationFailed, "The written tiles do not have their seal; this is a bug in Packhorse.")
        }
        return (tiles, try writer.digest(text))
    }
}

/// Something that files of a tree are written into; names come by folder.
protocol TreeWriter {
    func add(_ name: String, _ bytes: [UInt8]) throws
    /// Closes it, and returns when everything is on the medium.
    func finish() throws
    /// The SHA-256 that identifies it.
    ///
    /// - Parameter metadata: The bytes of its `tiles.json`.
    func digest(_ metadata: [UInt8]) throws -> Digest
}
