internal import Errors
internal import Origins
internal import Shards
internal import Tiles

/// What an earlier build has of a batch's tiles, and which of them turn out to be as they were.
///
/// Nothing in it counts before the origin has spoken: it confirms a tile (304), or sends it again and the bytes are the same.
/// Used by one task at a time.
final class BaseTiles {
    /// How it is known that a tile is as it was.
    enum Proof {
        /// The origin said so without sending it.
        case confirmed
        /// The origin sent the same bytes.
        case sent
        /// Another shard of today has the same bytes.
        case shared
    }

    private struct Source {
        let digest: Digest
        /// Held, because a cache may remove the files of blobs that nobody holds.
        let blob: LocalBlob
        let reader: ShardReader
    }

    private let header: ShardHeader
    private var sources: [Source] = []
    private var places: [TileID: (source: Int, entry: ShardEntry)] = [:]
    private var kept: [TileID: Proof] = [:]
    /// The source with the very tiles of the batch, neither more nor less.
    private var twin: Int?

    /// - Parameter header: That of the shard which is being made.
    init(_ header: ShardHeader) { self.header = header }

    /// Takes a shard in; of two that have a tile the first counts.
    ///
    /// - Returns: What is wrong with the shard, if anything; it is then left out.
    func open(_ digest: Digest, _ blob: LocalBlob, wanted: Set<TileID>) -> ShardsError? {
        let reader: ShardReader
        do throws(ShardsError) { reader = try ShardReader(blob.url) } catch { return error }
        guard reader.header.tileset == header.tileset else { return nil }
        let useful = reader.entries.filter { wanted.contains($0.tile) && places[$0.tile] == nil }
        guard !useful.isEmpty else { return nil }
        for entry in useful { places[entry.tile] = (sources.count, entry) }
        if reader.header == header, useful.count == wanted.count, reader.entries.count == wanted.count {
            twin = sources.count
        }
        sources.append(Source(digest: digest, blob: blob, reader: reader))
        return nil
    }

    /// Whether every tile of the batch is in some shard.
    func covers(_ count: Int) -> Bool { places.count == count }

    /// What the origin can be asked about, of these tiles.
    func validators(of tiles: Set<TileID>) -> [TileID: TileValidators] {
        var known: [TileID: TileValidators] = [:]
        for (tile, place) in places where place.entry.body != nil && tiles.contains(tile) {
            known[tile] = TileValidators(etag: place.entry.etag, lastModified: place.entry.lastModified)
        }
        return known
    }

    /// Notes a tile that the origin confirmed; false when there is no body for it here.
    ///
    /// It keeps the validators it was asked with, whatever came with the answer: they have just served, and the shard stays the same.
    func confirm(_ tile: TileID) -> Bool {
        guard places[tile]?.entry.body != nil else { return false }
        kept[tile] = .confirmed
        return true
    }

    /// Notes a tile of today if it is here with the same bytes and validators; whether it is.
    ///
    /// - Parameter digest: SHA-256 of its body; `nil` for an empty tile.
    func keep(_ tile: TileID, _ digest: Digest?, etag: String?, lastModified: String?, _ proof: Proof) -> Bool {
        guard let entry = places[tile]?.entry, entry.body?.digest == digest, entry.etag == etag,
            entry.lastModified == lastModified
        else { return false }
        kept[tile] = proof
        return true
    }

    /// Bytes of the body here, so that one of another length need not be hashed.
    func length(of tile: TileID) -> Int? { places[tile]?.entry.body?.length }

    /// The shard that says just what today's would, its file read and found whole; `nil` when anything differs.
    func unchangedShard(of tiles: UInt64) -> (digest: Digest, reader: ShardReader)? {
        guard let twin, UInt64(kept.count) == tiles else { return nil }
        let source = sources[twin]
        guard let found = try? Digest.ofFile(source.blob.url).digest, found == source.digest else { return nil }
        return (source.digest, source.reader)
    }

    /// How many tiles were kept by each way.
    func count(_ proof: Proof) -> UInt64 { UInt64(kept.values.count { $0 == proof }) }

    /// The tiles that are as they were, source by source in the order of their bodies, so that each file is read once, front to back.
    func inFileOrder() -> [(entry: ShardEntry, proof: Proof, reader: ShardReader)] {
        kept.compactMap { tile, proof in places[tile].map { (place: $0, proof: proof) } }
            .sorted {
                ($0.place.source, $0.place.entry.body?.number ?? -1, $0.place.entry.tile)
                    < ($1.place.source, $1.place.entry.body?.number ?? -1, $1.place.entry.tile)
            }
            .map { ($0.place.entry, $0.proof, sources[$0.place.source].reader) }
    }
}
