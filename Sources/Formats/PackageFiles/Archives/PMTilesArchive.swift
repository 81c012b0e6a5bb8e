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

    package let format: TileFormat?
    package let otherKind: String?
    /// The file below.
    package let file: PMTilesFile
    private let path: String

    /// Opens a file.
    ///
    /// - Throws: ``ArchiveError``.
    package convenience init(path: String, _ access: ArchiveAccess) throws(ArchiveError) {
        self.init(try PMTilesFile(path: path, limit: access.limit), path: path, isProbed: access.isProbed)
    }

    /// An archive over an open file.
    ///
    /// - Parameter isProbed: Whether its header is known to be right about its bodies.
    init(_ file: PMTilesFile, path: String, isProbed: Bool = false) {
        (self.file, self.path) = (file, path)
        var sample = FormatSample(hint: file.header.format)
        if !isProbed || file.header.format == nil { Self.look(at: file, &sample) }
        format = sample.format
        otherKind = sample.otherKind
    }

    /// Looks at the first bodies; what cannot be read of them is an error of the read that needs it.
    private static func look(at file: PMTilesFile, _ sample: inout FormatSample) {
        try? file.first { entry in
            guard let stored = try? file.body(at: entry.offset, length: entry.length),
                let body = try? file.coding.unpack(stored, limit: Gzip.defaultLimit)
            else { return true }
            return sample.add(body)
        }
    }

    package func tileZooms() throws(ArchiveError) -> ZoomRange? { try file.tileZooms() }

    package func facts() throws(ArchiveError) -> ArchiveFacts {
        let metadata = try PMTilesMetadata(reading: file)
        let isSealed: Bool
        do {
            isSealed = try PMTilesSeal.isThere(
                FileDescriptor(reading: URL(filePath: path)), isPromised: metadata.promisesSeal)
        } catch { throw ArchiveError(.unreadable, "'\(path)' cannot be read: \(error)", cause: error) }
        return ArchiveFacts(
            rows: metadata.rows(file.header, format), coding: file.coding, isSealed: isSealed, namesBodies: true)
    }

    /// The unpacked metadata; empty when there is none, or it cannot be unpacked.
    package func metadataText() -> [UInt8] {
        // Tiles need no metadata; `verify` names the fault.
        (try? file.metadata()) ?? []
    }

    package func find(_ tile: TileID) throws(ArchiveError) -> StoredTile<TileBody> {
        guard let body = body(try file.body(of: tile)) else { return .empty }
        return .body(body, expires: nil)
    }

    /// What ``find(_:)`` returns, when nothing must be waited for; `nil` = ask that.
    func findAtOnce(_ tile: TileID) throws(ArchiveError) -> StoredTile<TileBody>? {
        guard let stored = try file.bodyAtOnce(of: tile) else { return nil }
        return body(stored).map { .body($0, expires: nil) } ?? .empty
    }

    /// What the file has for tiles; bodies that lie side by side are read with one call.
    ///
    /// - Parameter each: Gets the body, or `bad-tile` where what the file has is no tile.
    /// - Throws: ``ArchiveError`` of every other kind: it concerns the whole file.
    func find(
        _ tiles: [TileID], each: (TileID, Result<TileBody?, ArchiveError>) -> Void
    ) throws(ArchiveError) {
        try file.bodies(of: tiles) { tile, stored in each(tile, stored.map { body($0) }) }
    }

    private func body(_ stored: [UInt8]?) -> TileBody? {
        guard let stored, !stored.isEmpty else { return nil }
        // Pictures of several formats can be in one file.
        let picture = stored.withUnsafeBytes { TileFormat(pictureBeginning: $0) }
        return TileBody(bytes: stored, coding: file.coding, format: picture ?? format)
    }

    package func tiles(
        strange: (VerifyReport.Problem, _ tiles: UInt64) throws -> Void, _ each: (TileID, UInt64, UInt64) throws -> Void
    ) throws {
        var count: UInt64 = 0
        try file.walk { entry in
            guard entry.run <= Self.maxTiles, count + entry.run <= Self.maxTiles else {
                throw ArchiveError(
                    .unsupported, "'\(path)' claims more than \(Self.maxTiles) tiles; it is damaged or far too large.")
            }
            count += entry.run
            for id in entry.tile..<entry.tile + entry.run {
                guard let tile = TileID(hilbertID: id) else {
                    // What follows is deeper still.
                    try strange(
                        .init(
                            code: "bad-tile", place: "id \(id)",
                            message: TilePlace.fault(zoom: Int64(PMTilesHeader.zoom(of: id)), column: 0, row: 0)),
                        entry.tile + entry.run - id)
                    break
                }
                try each(tile, entry.offset, entry.length)
            }
        }
    }

    package func body(_ record: TileRecord, of tile: TileID) throws(ArchiveError) -> RecordedBody {
        do throws(ArchiveError) { return .bytes(try file.body(at: record.reference, length: record.length)) } catch {
            guard error.code == .badTile else { throw error }
            return .unusable(.init(code: "too-large", place: "\(tile)", message: error.message))
        }
    }

    package func bodyLimit() throws -> UInt64 {
        var count: UInt64 = 0
        try file.walk { _ in count += 1 }
        return count
    }

    /// The file is opened once, and its bytes are not locked.
    package func reading(_ body: () -> Void) { body() }
}
