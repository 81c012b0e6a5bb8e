package import Errors
internal import Files
internal import Foundation
package import PMTiles
package import TileBodies
package import Tiles

/// An open PMTiles file; any number of threads may use it.
package final class PMTilesArchive: TileArchive, Sendable {
    /// The limit of tiles that are read: a few bytes can claim any number, and no package has so many.
    private static let maxTiles = UInt64(UInt32.max)

    package var format: TileFormat? { file.header.format }
    /// The file below.
    package let file: PMTilesFile
    private let path: String

    /// Opens a file.
    ///
    /// - Throws: ``ArchiveError``.
    package init(path: String, _ access: ArchiveAccess) throws(ArchiveError) {
        self.path = path
        file = try PMTilesFile(path: path, limit: access.limit)
    }

    package func facts() throws(ArchiveError) -> ArchiveFacts {
        let metadata = try PMTilesMetadata(reading: file)
        let isSealed: Bool
        do {
            isSealed = try PMTilesSeal.isThere(
                FileDescriptor(reading: URL(filePath: path)), isPromised: metadata.promisesSeal)
        } catch { throw ArchiveError(.unreadable, "'\(path)' cannot be read: \(error)", cause: error) }
        return ArchiveFacts(
            rows: metadata.rows(file.header), coding: file.coding, isSealed: isSealed, namesBodies: true)
    }

    package func find(_ tile: TileID) throws(ArchiveError) -> StoredTile<TileBody> {
        guard let bytes = try file.body(of: tile), !bytes.isEmpty else { return .empty }
        return .body(TileBody(bytes: bytes, coding: file.coding, format: format), expires: nil)
    }

    package func tiles(isStrict: Bool, _ each: (TileID, UInt64, UInt64) throws -> Void) throws {
        var count: UInt64 = 0
        try file.walk { entry in
            guard entry.run <= Self.maxTiles, count + entry.run <= Self.maxTiles else {
                throw ArchiveError(
                    .unsupported, "'\(path)' claims more than \(Self.maxTiles) tiles; it is damaged or far too large.")
            }
            count += entry.run
            for id in entry.tile..<entry.tile + entry.run {
                if let tile = TileID(hilbertID: id) {
                    try each(tile, entry.offset, entry.length)
                } else if isStrict {
                    throw ArchiveError(
                        .badArchive, "'\(path)' has a tile with id \(id), deeper than zoom \(TileID.maxZoom).")
                }
            }
        }
    }

    package func body(_ record: TileRecord, of tile: TileID) throws(ArchiveError) -> [UInt8] {
        try file.body(at: record.reference, length: record.length)
    }

    package func bodyLimit() throws -> UInt64 {
        var count: UInt64 = 0
        try file.walk { _ in count += 1 }
        return count
    }

    /// The file is opened once, and its bytes are not locked.
    package func reading(_ body: () -> Void) { body() }
}
