import Errors
import PackageFiles
import TileBodies
import Tiles
import Tilesets

/// Tiles from an MBTiles or PMTiles file, checked as those from a server are.
final class ArchiveOrigin: TileOrigin {
    private static let groupSize = 64
    private let archive: SharedArchive
    private let format: TileFormat
    private let checkPool: BodyCheckPool

    /// - Throws: ``OriginsError`` for a file that cannot be opened.
    init(
        path: String, isPMTiles: Bool, _ tileset: Tileset, _ checkPool: BodyCheckPool
    ) throws(OriginsError) {
        archive = SharedArchive(path: path, isPMTiles: isPMTiles, .batch(path, limit: tileset.maxTileBytes))
        do throws(ArchiveError) { try archive.open() } catch { throw OriginsError(error) }
        format = tileset.format
        self.checkPool = checkPool
    }

    /// A file has no validators: known tiles are read again, and the caller compares them.
    func fetch(
        _ tiles: any Sequence<TileID> & Sendable, known: [TileID: TileValidators], failedBefore: Bool,
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        var iterator = tiles.makeIterator()
        while true {
            try Task.checkCancellation()
            var group: [TileID] = []
            while group.count < Self.groupSize, let tile = iterator.next() { group.append(tile) }
            if group.isEmpty { return }
            let wanted = group
            let fetched = await checkPool.run { [archive, format] checker in
                var fetched: [FetchedTile] = []
                return Result { () throws(ArchiveError) -> [FetchedTile] in
                    try archive.find(wanted) { tile, found in
                        fetched.append(Self.fetchedTile(tile, found: found, format: format, checker: checker))
                    }
                    return fetched
                }.mapError { OriginsError($0) }
            }
            try await deliver(try fetched.get())
        }
    }

    private static func fetchedTile(
        _ tile: TileID, found: Result<TileBody?, ArchiveError>, format: TileFormat,
        checker: BodyChecker
    ) -> FetchedTile {
        switch found {
        case .failure(let error):
            return .leftOut(tile, error.message)
        case .success(nil):
            return FetchedTile(tile: tile, outcome: .empty, received: 0)
        case .success(let stored?):
            do throws(TileBodiesError) {
                let body = try checker.check(stored.bytes, coding: stored.coding, declared: format)
                let outcome = FetchedTile.Outcome.stored(body: body, etag: nil, lastModified: nil)
                return FetchedTile(
                    tile: tile, outcome: outcome, received: stored.bytes.count, layers: checker.checkedLayers)
            } catch {
                return FetchedTile(
                    tile: tile, outcome: FetchedTile.outcome(error), received: stored.bytes.count)
            }
        }
    }
}
