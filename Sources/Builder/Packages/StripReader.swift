internal import Errors
internal import Files
internal import PackageFiles
internal import Shards
internal import Tiles

/// One tile of a strip: its place in the order of its zoom, and where its body is.
struct StripTile {
    let tile: TileID
    let place: UInt64
    let shard: Int
    let body: ShardBody?
}

/// The passes behind the survey: the tiles of one strip in its order, and their bodies.
///
/// Memory: about 100 bytes a tile of the strip, `cacheBytes` of decompressed groups, and one small handle per open shard.
final class StripReader {
    private let spec: PackageSpec
    private let inputs: [MergeInput]
    /// The indexes that the survey kept.
    private let tables: [ShardTable?]
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
    /// 12 MiB hold a column of 800 tiles.
    private let cacheBytes = 12 << 20
    /// Files to keep open, under the usual limit of 1,024.
    private let openFiles = 192

    /// A decompressed group, and the bodies whose SHA-256 was compared in it.
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
        tables = survey.tables
    }

    /// The strip's tiles, ascending in their order, each once.
    ///
    /// - Parameter strip: Runs of the order.
    /// - Throws: `conflicting-tiles` when two shards disagree about a tile.
    func tiles(zoom: Int, _ runs: TileRuns, _ strip: ClosedRange<Int>) throws -> [StripTile] {
        var tiles: [StripTile] = []
        let order = runs.order
        for shard in runs.shards(zoom: zoom, strip: strip) {
            for entry in try entries(of: shard)
            where entry.tile.zoom == zoom && strip.contains(order.run(of: entry.tile)) && spec.admits(entry.tile) {
                tiles.append(
                    StripTile(tile: entry.tile, place: order.place(of: entry.tile), shard: shard, body: entry.body))
            }
        }
        tiles.sort { ($0.place, $0.shard) < ($1.place, $1.shard) }
        var kept = 0
        for index in tiles.indices {
            let tile = tiles[index]
            if kept > 0, tiles[kept - 1].tile == tile.tile {
                let last = tiles[kept - 1]
                guard last.body?.digest == tile.body?.digest else {
                    throw PackagesError.conflicting(
                        tile.tile, in: inputs[last.shard].digest, and: inputs[tile.shard].digest)
                }
            } else {
                tiles[kept] = tile
                kept += 1
            }
        }
        tiles.removeLast(tiles.count - kept)
        return tiles
    }

    private func entries(of shard: Int) throws -> [ShardEntry] {
        if let table = tables[shard] { return table.entries }
        let reader = try TileSurvey.open(inputs[shard])
        cache(ShardBodies(reader), shard)
        return reader.entries
    }

    /// The content of the group that holds a body, and where in it the body lies, checked.
    func place(of body: ShardBody, shard: Int) throws -> (content: [UInt8], range: Range<Int>) {
        do throws(StorageError) {
            let key = GroupKey(shard: shard, group: body.group)
            let (group, handle) = try self.group(key)
            // A body that is needed again, by another tile or in another pass, is not hashed again while its group is kept.
            let isChecked = group.checked.contains(body.number)
            let range = try handle.range(of: body, in: group.content, isChecked: isChecked)
            if !isChecked { group.checked.insert(body.number) }
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
        let url = inputs[shard].url
        let handle =
            if let table = tables[shard] { try ShardBodies(url, table) } else { ShardBodies(try ShardReader(url)) }
        cache(handle, shard)
        return handle
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
        if next > 4_096 {
            order.removeFirst(next)
            next = 0
        }
    }
}
