internal import Blobs
internal import Digests
internal import Errors
internal import Files
internal import Origins
internal import Shards
internal import Tiles

/// The tiles of a batch in shards of a previous build, and which of them are unchanged.
///
/// A tile counts as unchanged only when the origin confirms it (304), or sends it again with the same bytes. Used by
/// one task at a time.
final class BaseTiles {
    /// How it is known that a tile is unchanged.
    enum Proof {
        /// The origin confirmed it without sending it.
        case confirmed
        /// The origin sent the same bytes.
        case sent
        /// A current shard of another job has the same bytes.
        case shared
        /// The job does not ask about it.
        case unasked
    }

    private struct Source {
        let digest: Digest
        /// Held, because a cache may remove the files of blobs that are not in use.
        let blob: LocalBlob
        let reader: ShardReader
    }

    private let header: ShardHeader
    private var sources: [Source] = []
    private var places: [TileID: (source: Int, entry: ShardEntry)] = [:]
    private var kept: [TileID: Proof] = [:]
    /// The source with exactly the tiles of the batch.
    private var identicalSource: Int?

    /// - Parameter header: The header of the shard that is being made.
    init(_ header: ShardHeader) { self.header = header }

    /// Adds a shard.
    ///
    /// If two shards have the same tile, the first one is used.
    ///
    /// - Returns: What is wrong with the shard, if anything. It is not used then.
    func open(_ digest: Digest, _ blob: LocalBlob, wanted: Set<TileID>) -> StorageError? {
        let reader: ShardReader
        do throws(StorageError) { reader = try ShardReader(blob.url) } catch { return error }
        guard reader.header.tileset == header.tileset else { return nil }
        let useful = reader.entries.filter { wanted.contains($0.tile) && places[$0.tile] == nil }
        guard !useful.isEmpty else { return nil }
        for entry in useful { places[entry.tile] = (sources.count, entry) }
        if reader.header == header, useful.count == wanted.count, reader.entries.count == wanted.count {
            identicalSource = sources.count
        }
        sources.append(Source(digest: digest, blob: blob, reader: reader))
        return nil
    }

    /// Whether every tile of the batch is in a shard.
    func covers(_ count: Int) -> Bool { places.count == count }

    /// The validators for conditional requests about these tiles.
    func validators(of tiles: Set<TileID>) -> [TileID: TileValidators] {
        var known: [TileID: TileValidators] = [:]
        for (tile, place) in places where place.entry.body != nil && tiles.contains(tile) {
            known[tile] = TileValidators(etag: place.entry.etag, lastModified: place.entry.lastModified)
        }
        return known
    }

    /// Records a tile that the origin confirmed.
    ///
    /// Returns false when its body is not available here.
    ///
    /// The tile keeps the validators of the request, whatever validators came with the answer: they were just accepted,
    /// and the shard stays unchanged.
    func confirm(_ tile: TileID) -> Bool {
        guard places[tile]?.entry.body != nil else { return false }
        kept[tile] = .confirmed
        return true
    }

    /// Records that the origin is not asked about these tiles.
    ///
    /// - Returns: Those of them that are here.
    func keep(_ tiles: Set<TileID>) -> Set<TileID> {
        let found = tiles.filter { places[$0] != nil }
        for tile in found { kept[tile] = .unasked }
        return found
    }

    /// Records a fetched tile as unchanged if it is here with the same bytes and validators.
    ///
    /// Returns whether it is.
    ///
    /// - Parameter digest: SHA-256 of its body; `nil` for an empty tile.
    func confirm(_ tile: TileID, digest: Digest?, etag: String?, lastModified: String?, proof: Proof) -> Bool {
        guard let entry = places[tile]?.entry, entry.body?.digest == digest, entry.etag == etag,
            entry.lastModified == lastModified
        else { return false }
        kept[tile] = proof
        return true
    }

    /// Whether a tile is here with this body, whatever its validators.
    func isSame(_ tile: TileID, _ digest: Digest) -> Bool { places[tile]?.entry.body?.digest == digest }

    /// The length of the old body, so that a body of another length need not be hashed.
    func length(of tile: TileID) -> Int? { places[tile]?.entry.body?.length }

    /// The old shard with exactly the content of the new one, if its file was read and is undamaged; `nil` when
    /// anything differs.
    func unchangedShard(of tiles: UInt64) -> (digest: Digest, reader: ShardReader)? {
        guard let identicalSource, UInt64(kept.count) == tiles else { return nil }
        let source = sources[identicalSource]
        // A shard that cannot be read is damaged: the new shard is used.
        guard let found = try? Digest.ofFile(source.blob.url).digest, found == source.digest else { return nil }
        return (source.digest, source.reader)
    }

    /// The number of tiles that were kept for this reason.
    func count(_ proof: Proof) -> UInt64 { UInt64(kept.values.count { $0 == proof }) }

    /// The unchanged tiles, shard by shard in the order of their bodies, so that each file is read once, sequentially.
    func inFileOrder() -> [(entry: ShardEntry, proof: Proof, reader: ShardReader)] {
        kept.compactMap { tile, proof in places[tile].map { (place: $0, proof: proof) } }
            .sorted {
                ($0.place.source, $0.place.entry.body?.number ?? -1, $0.place.entry.tile)
                    < ($1.place.source, $1.place.entry.body?.number ?? -1, $1.place.entry.tile)
            }
            .map { ($0.place.entry, $0.proof, sources[$0.place.source].reader) }
    }
}
