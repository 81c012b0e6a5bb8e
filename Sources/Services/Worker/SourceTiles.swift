internal import Errors
internal import Files
internal import Foundation
internal import Shards
internal import Tiles

/// The tiles of a batch that are still missing, while its sources are read.
struct SourceTiles: Sendable {
    /// The tiles that no source had so far.
    private(set) var rest: Set<TileID>
    /// The number of tiles that were found.
    private(set) var taken = 0
    /// Shards of other tilesets are not used, whatever their name.
    let tileset: String

    init(_ tiles: some Sequence<TileID>, tileset: String) {
        rest = Set(tiles)
        self.tileset = tileset
    }

    /// The wanted tiles of a shard, in the order of their bodies in the file, so that it is read once, sequentially.
    func found(in reader: ShardReader) -> [ShardEntry] {
        guard reader.header.tileset == tileset else { return [] }
        return reader.entries.filter { rest.contains($0.tile) }.sorted {
            ($0.body?.number ?? -1, $0.tile) < ($1.body?.number ?? -1, $1.tile)
        }
    }

    mutating func remove(_ tile: TileID) {
        if rest.remove(tile) != nil { taken += 1 }
    }
}

extension ShardSession {
    /// Adds the wanted tiles of a finished shard, stored or empty.
    ///
    /// The reader checks every body's SHA-256.
    ///
    /// - Returns: The tiles that are still missing, and what is wrong with the shard, if anything. Tiles before the
    ///   damage are used.
    /// - Throws: `StorageError` about the shard that is being written.
    func add(_ wanted: SourceTiles, from url: URL) throws -> (left: SourceTiles, damage: StorageError?) {
        var left = wanted
        let reader: ShardReader
        do throws(StorageError) {
            reader = try ShardReader(url)
        } catch {
            return (left, error)
        }
        for entry in left.found(in: reader) {
            do throws(SourceDamage) {
                try add(entry, from: reader)
            } catch {
                switch error {
                case .source(let damage): return (left, damage)
                case .own(let failure): throw failure
                }
            }
            left.remove(entry.tile)
        }
        return (left, nil)
    }
}
