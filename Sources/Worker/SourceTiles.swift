internal import Errors
internal import Foundation
internal import Shards
internal import Tiles

/// The tiles of a batch that are still to be had, while its sources are looked through.
struct SourceTiles: Sendable {
    /// What no source had so far.
    private(set) var rest: Set<TileID>
    /// How many were found.
    private(set) var taken = 0
    /// Shards of other tilesets are no sources, whatever they are called.
    let tileset: String

    init(_ tiles: some Sequence<TileID>, tileset: String) {
        rest = Set(tiles)
        self.tileset = tileset
    }

    /// The tiles of a shard that are wanted, in the order of their bodies in the file, so that it is read once, front to back.
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
    /// Adds the wanted tiles that a finished shard holds, stored or empty; every body's SHA-256 is checked by the reader.
    ///
    /// - Returns: What is still wanted, and what was wrong with the shard, if anything: tiles before the damage are taken.
    /// - Throws: `ShardsError` about the shard that is being written.
    func take(_ wanted: SourceTiles, from url: URL) throws -> (left: SourceTiles, damage: ShardsError?) {
        var left = wanted
        let reader: ShardReader
        do throws(ShardsError) {
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
