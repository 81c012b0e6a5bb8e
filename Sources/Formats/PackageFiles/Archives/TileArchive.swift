package import Errors
package import TileBodies
package import Tiles

/// An open file with tiles; used by one thread at a time (``SharedArchive`` lends it to many).
///
/// Safe on files from untrusted sources. Bodies of every dialect come out as any reader understands them.
package protocol TileArchive: AnyObject {
    /// What the bodies are, by the first of them, and in doubt by the metadata; `nil` for bodies of no known format.
    ///
    /// Pictures of several formats can be in one file; ``TileBody/format`` is that of one tile.
    var format: TileFormat? { get }
    /// What bodies of no known format are, in words that follow "its tiles are"; `nil` when they are not recognised.
    var otherKind: String? { get }
    /// The shallowest and the deepest zoom of the tiles that can be read, by the index; `nil` without tiles.
    func tileZooms() throws(ArchiveError) -> ZoomRange?
    /// What the file says about itself; reads its metadata.
    func facts() throws(ArchiveError) -> ArchiveFacts
    /// What the file has for a tile.
    func find(_ tile: TileID) throws(ArchiveError) -> StoredTile<TileBody>
    /// Calls `each` for every tile, in the order of the file, with a reference to its body and the bytes of the body where
    /// the reader needs them.
    ///
    /// - Parameter strange: Called for rows that are no tiles, with their number: zoom, column or row is too large or no
    ///   number.
    /// - Throws: ``ArchiveError``, and what `each` and `strange` throw.
    func tiles(
        strange: (VerifyReport.Problem, _ tiles: UInt64) throws -> Void,
        _ each: (TileID, _ reference: UInt64, _ length: UInt64) throws -> Void) throws
    /// The body that ``tiles(strange:_:)`` referred to.
    ///
    /// - Throws: ``ArchiveError`` when the file cannot be read; a tile without a usable body is a value.
    func body(_ record: TileRecord, of tile: TileID) throws(ArchiveError) -> RecordedBody
    /// The most different bodies there can be.
    func bodyLimit() throws -> UInt64
    /// Runs `body` while the file does not change, where the file can be locked.
    func reading(_ body: () -> Void) throws(ArchiveError)
}

/// What a file has where it names a body.
package enum RecordedBody {
    /// The bytes as they are stored, a preset dictionary undone.
    case bytes([UInt8])
    /// No bytes that could be a tile.
    case unusable(VerifyReport.Problem)
}

/// What an archive says about itself.
package struct ArchiveFacts: Sendable {
    /// Metadata as the rows of an MBTiles file, without the seal.
    package let rows: [String: String]
    /// How bodies are packed; those of MBTiles have no label.
    package let coding: BodyCoding
    /// Whether there is a seal.
    package let isSealed: Bool
    /// Whether each body has one reference and each reference one body, if Packhorse wrote the file.
    let namesBodies: Bool
    /// Tiles whose bodies are missing from the table of bodies, so that they are not among ``TileArchive/tiles(strange:_:)``.
    package internal(set) var lostBodies = 0

    /// Whether Packhorse wrote it, so that bodies are canonical and metadata is complete; valid only if the seal holds.
    package var isOwn: Bool { isSealed && rows["agg_tiles_hash"] != nil }
    /// Whether equal bodies have equal references.
    package var goesByReference: Bool { isOwn && namesBodies }
}

/// A tile's body.
package struct TileBody: Sendable {
    /// The bytes; at least one.
    package var bytes: [UInt8]
    /// How they are packed; `.identity` may still be a gzip file.
    package var coding: BodyCoding
    /// What it is; `nil` when the file does not say so.
    package var format: TileFormat?

    /// The body as web clients take it: gzip stays, every other coding is undone, also a zlib stream without a label.
    ///
    /// - Throws: ``ArchiveError`` `bad-archive`.
    package func served() throws(ArchiveError) -> TileBody {
        switch coding {
        case .gzip: return self
        case .identity:
            if Gzip.isGzip(bytes) { return TileBody(bytes: bytes, coding: .gzip, format: format) }
            guard format?.traits.isVector == true, bytes.withUnsafeBytes({ Zlib.begins($0) }) else { return self }
            // The first bytes can be chance.
            guard let plain = try? Zlib.decompress(bytes) else { return self }
            return TileBody(bytes: plain, coding: .identity, format: format)
        case .deflate, .brotli, .zstd:
            do throws(TileBodiesError) {
                let plain = try coding.unpack(bytes, limit: Gzip.defaultLimit)
                return TileBody(bytes: plain, coding: .identity, format: format)
            } catch { throw ArchiveError(.badArchive, "A tile cannot be unpacked: \(error.message).", cause: error) }
        }
    }
}
