internal import Digests
internal import Errors
internal import Files
internal import PackageFiles
internal import Shards
internal import Tiles

/// Where the tiles of a small package are.
struct SmallPackagePlaces {
    private struct Place {
        let shard: Int
        let body: ShardBody?
    }

    /// Tiles mentioned, stored or empty; a tile two shards mention counts twice.
    let mentioned: UInt64
    private let tiles: [TileID]
    private let places: [Place?]
    private let conflict: PackagesError?
    private let inputs: [MergeInput]
    private let maps: [ShardMap]

    /// Looks the tiles up in the index of each shard; `nil` when the package has too many tiles.
    ///
    /// - Parameter inputs: The shards, in the order in which they are preferred when two have the same tile.
    /// - Throws: ``PackagesError`` `bad-shard`, and what `tick` throws.
    init?(
        _ spec: PackageSpec, _ inputs: [MergeInput], maps known: ShardMaps, limit: SmallPackage, tick: () throws -> Void
    ) throws {
        guard limit.tiles > 0, spec.mask.count(in: spec.zooms) <= limit.tiles else { return nil }
        let tiles = Array(spec.mask.tiles(in: spec.zooms))
        let list = tiles.map(\.hilbertID)
        var places = [Place?](repeating: nil, count: tiles.count)
        var maps: [ShardMap] = []
        var (mentioned, conflict) = (0 as UInt64, nil as PackagesError?)
        for (shard, input) in inputs.enumerated() {
            let map = try known.map(of: input)
            map.forEachTile(of: list) { index, body in
                mentioned += 1
                guard let place = places[index] else {
                    places[index] = Place(shard: shard, body: body)
                    return
                }
                guard conflict == nil, place.body?.digest != body?.digest else { return }
                conflict = .conflicting(tiles[index], in: inputs[place.shard].digest, and: input.digest)
            }
            maps.append(map)
            try tick()
        }
        self.inputs = inputs
        (self.tiles, self.places, self.maps) = (tiles, places, maps)
        (self.mentioned, self.conflict) = (mentioned, conflict)
    }

    /// Reads and checks each different body once; `nil` when they are too long together.
    ///
    /// - Throws: ``PackagesError`` `bad-shard`, `conflicting-tiles` when two shards disagree about a tile, and what `tick` throws.
    func load(limit: SmallPackage, tick: () throws -> Void) throws -> SmallPackageTiles? {
        if let conflict { throw conflict }
        var loaded = SmallPackageTiles()
        // For each shard the bodies that are read from it, with their numbers in the package.
        var wanted = [[(stored: ShardBody, number: Int)]](repeating: [], count: inputs.count)
        for (tile, place) in zip(tiles, places) {
            guard let place else { continue }
            let (body, isNew) = loaded.add(tile, place.body)
            guard isNew, let body, let stored = place.body else { continue }
            guard loaded.length <= limit.bytes else { return nil }
            wanted[place.shard].append((stored, body))
        }
        loaded.reserve()
        for shard in wanted.indices where !wanted[shard].isEmpty {
            try tick()
            let bodies = wanted[shard].sorted { $0.stored.number < $1.stored.number }
            do throws(StorageError) {
                let file = try ShardBodies(inputs[shard].url, maps[shard])
                var next = 0
                // Each body is given once, in the order of the list.
                try file.read(bodies.map(\.stored)) { _, content, range in
                    loaded.set(body: bodies[next].number, to: content[range])
                    next += 1
                }
            } catch { throw PackagesError.blaming(inputs[shard].digest, for: error) }
        }
        return loaded
    }
}

extension PackagesError {
    /// Two shards that disagree about a tile.
    static func conflicting(_ tile: TileID, in first: Digest, and second: Digest) -> PackagesError {
        PackagesError(
            .conflictingTiles,
            "Shards \(first) and \(second) have different content for tile \(tile). Fetch one of the two batches again."
        )
    }
}
