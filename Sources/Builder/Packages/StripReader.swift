internal import Errors
internal import Files
internal import PackageFiles
internal import Shards
internal import Tiles

/// One tile of a strip: its place in the order of its zoom, and where its body is; 24 bytes, because a strip is sorted.
struct StripTile {
    let tile: TileID
    let place: UInt64
    private let storedShard: UInt32
    /// The place of its body in the strip's list of bodies, from 1; 0 for none.
    fileprivate let body: UInt32

    fileprivate init(_ tile: TileID, place: UInt64, shard: Int, body: Int) {
        (self.tile, self.place) = (tile, place)
        (storedShard, self.body) = (UInt32(shard), UInt32(body))
    }

    var shard: Int { Int(storedShard) }
}

/// The passes behind the survey: the tiles of one strip in its order, and their bodies.
///
/// Memory: about 100 bytes a tile of the strip while it is sorted, `cacheBytes` of decompressed groups at most, and one small handle per open shard.
final class StripReader {
    private let spec: PackageSpec
    private let inputs: [MergeInput]
    private let maps: ShardMaps
    private let passes: Int
    /// The bodies of the strip's tiles.
    private var bodies: [ShardBody] = []
    /// For each shard and group, how often a body of it will still be taken.
    private var uses: [[UInt32]]
    private var handles: [Int: ShardBodies] = [:]
    private var opened: [Int] = []
    private var groups: [GroupKey: Group] = [:]
    /// The group of the last body, and its shard: several bodies of a run are mostly in one.
    private var last: (key: GroupKey, group: Group, handle: ShardBodies)?
    private var order: [GroupKey] = []
    private var next = 0
    private var held = 0
    /// Bytes of decompressed groups to keep: bodies are stored in their shard as they arrived (along the Hilbert curve)
    /// and are read column by column, so a group is needed again for the next column.
    ///
    /// 12 MiB hold a column of 800 tiles. A group is dropped before, when all of its tiles have passed.
    private let cacheBytes = 12 << 20
    /// Files to keep open, under the usual limit of 1,024.
    private let openFiles = 192

    /// A decompressed group, and those of its bodies that may be needed again and whose SHA-256 was compared in it.
    private final class Group {
        let content: [UInt8]
        var checked: Set<Int> = []

        init(_ content: [UInt8]) { self.content = content }
    }

    private struct GroupKey: Hashable {
        let shard: Int
        let group: Int
    }

    init(_ spec: PackageSpec, _ inputs: [MergeInput], survey: TileSurvey) {
        self.spec = spec
        self.inputs = inputs
        (maps, uses, passes) = (survey.maps, survey.uses, survey.runs.count)
    }

    /// The strip's tiles, ascending in their order, each once; they and their bodies replace those of the last strip.
    ///
    /// - Throws: `bad-shard`; `conflicting-tiles` when two shards disagree about a tile.
    func tiles(zoom: Int, _ runs: TileRuns, _ strip: TileRuns.Strip) throws -> [StripTile] {
        var tiles: [StripTile] = []
        tiles.reserveCapacity(strip.tiles)
        bodies.removeAll(keepingCapacity: true)
        bodies.reserveCapacity(strip.tiles)
        let order = runs.order
        for shard in runs.shards(zoom: zoom, strip: strip) {
            let map = try maps.map(of: inputs[shard], isFirstTime: false)
            let before = bodies.count
            map.forEachTile(in: zoom...zoom) { tile, number in
                guard strip.runs.contains(order.run(of: tile)), spec.mask.contains(tile) else { return }
                if let body = map.body(number) { bodies.append(body) }
                tiles.append(
                    StripTile(
                        tile, place: order.place(of: tile), shard: shard, body: number == 0 ? 0 : bodies.count))
            }
            if bodies.count > before { try open(shard, map) }
        }
        tiles.sort { ($0.place, $0.shard) < ($1.place, $1.shard) }
        var kept = 0
        for index in tiles.indices {
            let tile = tiles[index]
            if kept > 0, tiles[kept - 1].tile == tile.tile {
                let last = tiles[kept - 1]
                let body = self.body(of: tile)
                guard self.body(of: last)?.digest == body?.digest else {
                    throw PackagesError.conflicting(
                        tile.tile, in: inputs[last.shard].digest, and: inputs[tile.shard].digest)
                }
                if let body { release(body, shard: tile.shard) }
            } else {
                tiles[kept] = tile
                kept += 1
            }
        }
        tiles.removeLast(tiles.count - kept)
        return tiles
    }

    /// The body of a tile of the last strip; `nil` for an empty tile.
    func body(of tile: StripTile) -> ShardBody? { tile.body == 0 ? nil : bodies[Int(tile.body) - 1] }

    /// Counts a body as taken; its group is dropped when no tile needs it any more.
    func release(_ body: ShardBody, shard: Int) {
        // A file that was replaced since the survey may have more groups; its bodies are refused.
        guard uses[shard].indices.contains(body.group), uses[shard][body.group] > 0 else { return }
        uses[shard][body.group] -= 1
        guard uses[shard][body.group] == 0 else { return }
        held -= groups.removeValue(forKey: GroupKey(shard: shard, group: body.group))?.content.count ?? 0
    }

    /// The content of the group that holds a body, and where in it the body lies, checked.
    ///
    /// - Parameter occursAgain: Whether other tiles may have the same body.
    func place(
        of body: ShardBody, shard: Int, occursAgain: Bool
    ) throws -> (content: [UInt8], range: Range<Int>) {
        do throws(StorageError) {
            let key = GroupKey(shard: shard, group: body.group)
            let (group, handle) = try self.group(key)
            // A body that is needed again, by another tile or in another pass, is not hashed again while its group is kept.
            let isOnce = !occursAgain && passes == 1
            let isChecked = !isOnce && group.checked.contains(body.number)
            let range = try handle.range(of: body, in: group.content, isChecked: isChecked)
            if !isOnce, !isChecked { group.checked.insert(body.number) }
            return (group.content, range)
        } catch {
            throw PackagesError.blaming(inputs[shard].digest, for: error)
        }
    }

    private func group(_ key: GroupKey) throws(StorageError) -> (Group, ShardBodies) {
        if let last, last.key == key { return (last.group, last.handle) }
        let handle = try self.handle(of: key.shard)
        let group: Group
        if let kept = groups[key] {
            group = kept
        } else {
            group = Group(try handle.content(ofGroup: key.group, isTrusted: true))
            cache(group, key)
        }
        last = (key, group, handle)
        return (group, handle)
    }

    private func handle(of shard: Int) throws(StorageError) -> ShardBodies {
        if let open = handles[shard] { return open }
        let handle = ShardBodies(try ShardReader(inputs[shard].url))
        cache(handle, shard)
        return handle
    }

    /// Opens a shard while its index is at hand.
    private func open(_ shard: Int, _ map: ShardMap) throws {
        guard handles[shard] == nil else { return }
        do throws(StorageError) { cache(try ShardBodies(inputs[shard].url, map), shard) } catch {
            throw PackagesError.blaming(inputs[shard].digest, for: error)
        }
    }

    private func cache(_ handle: ShardBodies, _ shard: Int) {
        if handles.updateValue(handle, forKey: shard) == nil { opened.append(shard) }
        if opened.count > openFiles { handles[opened.removeFirst()] = nil }
    }

    /// First in, first out: as good as any other policy, because each group is needed for some time and then never
    /// again.
    private func cache(_ group: Group, _ key: GroupKey) {
        groups[key] = group
        order.append(key)
        held += group.content.count
        while held > cacheBytes && next < order.count - 1 {
            held -= groups.removeValue(forKey: order[next])?.content.count ?? 0
            next += 1
        }
        // Most of the list are groups that were dropped.
        if order.count > 2 * groups.count + 4_096 {
            order = order[next...].filter { groups[$0] != nil }
            next = 0
        }
    }
}
