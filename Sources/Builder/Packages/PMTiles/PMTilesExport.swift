internal import Digests
internal import Files
internal import Foundation
internal import PMTiles
internal import PackageFiles
internal import TileBodies
internal import Tiles

/// Writes tiles that come along the Hilbert curve as PMTiles version 3: clustered, each body once, runs joined.
///
/// Order in the file: header, root directory, metadata if it fits before byte 16,384, then the bodies as they come (in
/// a compact file directly after the metadata), the leaf directories, the metadata if it did not fit, the seal. So each
/// body is written once, and does not wait for directories. Directories and metadata are gzip by libdeflate. Memory:
/// that of the feed, 40 bytes for each repeated body, and one leaf.
struct PMTilesExport {
    private let file: NewFile
    private let isFlushed: Bool
    private let entries: Spool<PMTilesDirectory.Entry>
    private var bodies: [UInt8] = []
    private var length: UInt64 = 0
    private var last: PMTilesDirectory.Entry?
    private var places = RepeatedValues<(offset: UInt64, length: UInt64)>()
    private var header = PMTilesHeader()
    private var tally = TileTally()

    /// Bodies are written in pieces of at least this size, in bytes.
    private static let pieceSize = 1 << 20

    /// Writes a new file, seals and flushes it, and reads it back.
    ///
    /// - Parameter isCompact: Whether the bodies move up to the end of root and metadata, when all is in the file: a second pass that
    ///   saves up to 16 KiB.
    /// - Returns: Tiles written, and the file's SHA-256.
    /// - Throws: ``PackagesError`` `unsupported` when there is no tile at all; the format has no such file.
    static func write(
        _ feed: TileFeed, to url: URL, isCompact: Bool = false, progress: (UInt64) throws -> Void
    ) throws -> (tiles: UInt64, digest: Digest) {
        var export = try PMTilesExport(url)
        try feed.inHilbertOrder { tile in
            try export.add(tile)
            if export.tiles % 1_024 == 0 { try progress(export.tiles) }
        }
        let written = try export.close(feed.rows, format: feed.format, isCompact: isCompact)
        try progress(written.tiles)
        return written
    }

    /// Tiles that were added.
    var tiles: UInt64 { header.addressedTiles }

    /// Adds a tile that follows all others on the curve.
    mutating func add(_ tile: FeedTile) throws {
        var tally = tally
        // Emptied, so that it is not copied.
        self.tally = TileTally()
        try tally.add(tile) { try write($0) }
        self.tally = tally
    }

    /// Writes directories, metadata and header, seals and flushes the file, and reads it back.
    ///
    /// - Parameters:
    ///   - rows: The metadata, without the seal.
    ///   - format: What the tiles are.
    ///   - isCompact: See ``write(_:to:isCompact:progress:)``.
    /// - Returns: Tiles written, and the file's SHA-256.
    /// - Throws: ``PackagesError`` `unsupported` when there is no tile at all, `verification-failed`.
    mutating func close(
        _ rows: [String: String], format: TileFormat, isCompact: Bool = false
    ) throws -> (tiles: UInt64, digest: Digest) {
        guard header.addressedTiles > 0 else {
            throw PackagesError(.unsupported, "The package has no tiles, and a PMTiles file needs at least one.")
        }
        try finish(rows, format, isCompact: isCompact)
        let sum = tally.sum
        let digest = try Sealing.run(
            file, isFlushed: isFlushed, { try PMTilesSeal.append(to: $0) },
            readBack: { try Sealing.refuse(try PMTilesReadBack.problems(of: $0, sum: sum, format: format)) })
        return (sum.tiles, digest)
    }

    /// Makes the file.
    ///
    /// - Parameters:
    ///   - memory: Bytes up to which it is made in memory, see `NewFile`.
    ///   - isFlushed: Whether a file that was made in memory must be on the medium at the end.
    init(_ url: URL, inMemory memory: Int = 0, isFlushed: Bool = true) throws {
        self.isFlushed = isFlushed
        file = try NewFile(creating: url, inMemory: memory)
        entries = Spool(near: url.appendingPathExtension("entries"), limit: 65_536)
        try file.write([UInt8](repeating: 0, count: Int(PMTilesHeader.rootEnd)))
    }

    private mutating func write(_ tile: FeedTile) throws {
        let place: (offset: UInt64, length: UInt64)
        if let known = places[tile] {
            place = known
        } else {
            let body = try tile.body()
            place = (length, UInt64(body.count))
            places[tile] = place
            length += place.length
            header.tileContents += 1
            bodies += body
            if bodies.count >= Self.pieceSize { try flush() }
        }
        header.addressedTiles += 1
        let id = tile.tile.hilbertID
        if let open = last, open.offset == place.offset, open.length == place.length, open.tile + open.run == id {
            last?.run += 1
        } else {
            if let last { try entries.append(last) }
            last = PMTilesDirectory.Entry(tile: id, run: 1, length: place.length, offset: place.offset)
        }
    }

    private mutating func flush() throws {
        try file.write(bodies)
        bodies.removeAll(keepingCapacity: true)
    }

    private mutating func finish(_ rows: [String: String], _ format: TileFormat, isCompact: Bool) throws {
        if let last { try entries.append(last) }
        try flush()
        header.setPlace(from: rows)
        header.format = format
        header.tileEntries = UInt64(entries.count)
        header.isClustered = true
        header.internalCompression = PMTilesHeader.Compression.gzip
        header.tileCompression =
            format.traits.coding == .gzip ? PMTilesHeader.Compression.gzip : PMTilesHeader.Compression.none
        header.tiles = .init(offset: PMTilesHeader.rootEnd, length: length)
        let root = try PMTilesLeaves.write(entries, to: file)
        header.root = .init(offset: UInt64(PMTilesHeader.size), length: UInt64(root.count))
        header.leaves = .init(offset: header.tiles.end, length: file.size - header.tiles.end)
        let metadata = Gzip.compress(try PMTilesMetadata(rows: rows).text())
        header.metadata = .init(offset: header.root.end, length: UInt64(metadata.count))
        if header.metadata.end <= PMTilesHeader.rootEnd {
            try file.write(metadata, at: header.metadata.offset)
            if isCompact { try close(upTo: header.metadata.end) }
        } else {
            header.metadata.offset = file.size
            try file.write(metadata)
        }
        try file.write(header.encoded + root, at: 0)
    }

    /// Moves everything behind the gap after root and metadata to the gap's begin.
    private mutating func close(upTo end: UInt64) throws {
        let gap = header.tiles.offset - end
        let written: any SealableFile = try file.isInMemory ? file : FileDescriptor(reading: file.url)
        var offset = header.tiles.offset
        while offset < file.size {
            let piece = try written.read(at: offset, count: Int(min(UInt64(Self.pieceSize), file.size - offset)))
            try file.write(piece, at: offset - gap)
            offset += UInt64(piece.count)
        }
        try file.truncate(to: file.size - gap)
        header.tiles.offset -= gap
        header.leaves.offset -= gap
    }
}
