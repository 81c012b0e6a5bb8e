internal import Digests
internal import Shards
internal import Synchronization

/// The indexes of shards that merges have read, so that many packages out of one shard, and many strips of one package, read it once.
///
/// Only the index is remembered; bodies are read from the file and checked each time. Any number of threads may use it.
public final class ShardMaps: Sendable {
    /// What a merge expects of a shard; one with another footer is another shard.
    private struct Key: Hashable {
        let digest: Digest
        let footer: Digest?
    }

    private struct State {
        var known: [Key: (map: ShardMap, use: UInt64)] = [:]
        var bytes = 0
        var uses: UInt64 = 0

        mutating func find(_ key: Key) -> ShardMap? {
            uses += 1
            known[key]?.use = uses
            return known[key]?.map
        }

        mutating func keep(_ map: ShardMap, _ key: Key, limit: Int) {
            guard map.memory <= limit else { return }
            uses += 1
            bytes += map.memory - (known.updateValue((map, uses), forKey: key)?.map.memory ?? 0)
            while bytes > limit, let oldest = known.min(by: { $0.value.use < $1.value.use }) {
                bytes -= oldest.value.map.memory
                known[oldest.key] = nil
            }
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: Bytes that are kept at most, about; 24 MiB are the indexes of 400,000 tiles.
    public init(limit: Int = 24 << 20) { self.limit = limit }

    /// The index of a shard, which was checked when it was read.
    ///
    /// - Parameter isFirstTime: Whether a shard with an unknown footer digest is read completely, see ``TileSurvey/open(_:isFirstTime:)``.
    /// - Throws: ``PackagesError`` `bad-shard`, when the file is read and is not the expected shard.
    func map(of input: MergeInput, isFirstTime: Bool = true) throws -> ShardMap {
        let key = Key(digest: input.digest, footer: input.footerDigest)
        if let known = state.withLock({ $0.find(key) }) { return known }
        let map = try TileSurvey.open(input, isFirstTime: isFirstTime).map
        // What only the first reading of a merge has checked is not kept for others.
        if isFirstTime || input.footerDigest != nil { state.withLock { $0.keep(map, key, limit: limit) } }
        return map
    }
}
