package import Errors
internal import Synchronization
internal import TileBodies
package import Tiles

/// A tile archive that any number of threads read; it is opened at the first read.
package final class SharedArchive: Sendable {
    private enum Access {
        case mbtiles(HandleSlots<MBTilesArchive>)
        case pmtiles(PMTilesAtFirstUse)
    }

    private final class PMTilesAtFirstUse: Sendable {
        private let opened = AtomicLazyReference<PMTilesArchive>()
        private let open: @Sendable () throws(ArchiveError) -> PMTilesArchive

        init(_ open: @escaping @Sendable () throws(ArchiveError) -> PMTilesArchive) { self.open = open }

        /// `nil` until the first use.
        var known: PMTilesArchive? { opened.load() }

        func archive() throws(ArchiveError) -> PMTilesArchive {
            if let known = opened.load() { return known }
            return opened.storeIfNil(try open())
        }
    }

    private let access: Access

    /// An archive that is PMTiles, or else MBTiles.
    ///
    /// - Parameter budget: Limits the open handles of all files that share it.
    package init(path: String, isPMTiles: Bool, _ access: ArchiveAccess, budget: HandleBudget = HandleBudget()) {
        self.access =
            isPMTiles
            ? .pmtiles(PMTilesAtFirstUse { () throws(ArchiveError) in try PMTilesArchive(path: path, access) })
            : .mbtiles(
                HandleSlots(budget: budget) { () throws(ArchiveError) in try MBTilesArchive(path: path, access) })
    }

    /// Opens the file now.
    package func open() throws(ArchiveError) { try lend { _ in } }

    /// Runs `body` with the open file.
    ///
    /// - Throws: ``ArchiveError``, also for a file that cannot be opened.
    package func lend<Result>(
        _ body: (any TileArchive) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        switch access {
        case .mbtiles(let slots): try slots.lend { (archive) throws(ArchiveError) in try body(archive) }
        case .pmtiles(let file): try body(try file.archive())
        }
    }

    /// What the file says about itself.
    package func facts() throws(ArchiveError) -> ArchiveFacts {
        try lend { (archive) throws(ArchiveError) in try archive.facts() }
    }

    /// What the file has for a tile; blocks.
    package func find(_ tile: TileID) throws(ArchiveError) -> StoredTile<TileBody> {
        try lend { (archive) throws(ArchiveError) in try archive.find(tile) }
    }

    /// What ``find(_:)`` returns, when nothing must be waited for.
    ///
    /// - Returns: `nil` when the file is not open yet, when a part must be read from the medium, and always of MBTiles, because
    ///   SQLite cannot read without waiting.
    package func findAtOnce(_ tile: TileID) throws(ArchiveError) -> StoredTile<TileBody>? {
        guard case .pmtiles(let file) = access else { return nil }
        return try file.known?.findAtOnce(tile)
    }

    /// What the file has for tiles, at one moment; blocks.
    ///
    /// - Parameter each: Gets the body, or `bad-tile` where what the file has is no tile.
    /// - Throws: ``ArchiveError`` of every other kind: it concerns the whole file.
    package func find(
        _ tiles: [TileID], each: (TileID, Result<TileBody?, ArchiveError>) -> Void
    ) throws(ArchiveError) {
        if case .pmtiles(let file) = access { return try file.archive().find(tiles, each: each) }
        let failure = try lend { (archive) throws(ArchiveError) -> ArchiveError? in
            var failure: ArchiveError?
            try archive.reading {
                for tile in tiles where failure == nil {
                    do throws(ArchiveError) { each(tile, .success(try archive.find(tile).body)) } catch {
                        if error.code == .badTile { each(tile, .failure(error)) } else { failure = error }
                    }
                }
            }
            return failure
        }
        if let failure { throw failure }
    }
}
