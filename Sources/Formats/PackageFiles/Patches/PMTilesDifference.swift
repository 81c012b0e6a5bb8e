internal import Errors
internal import PMTiles

/// Walks two PMTiles archives in the order of their tiles and says what differs.
///
/// Memory: one directory of each depth of both, and the last few thousand comparisons.
struct PMTilesDifference {
    /// Tiles that follow one another and have one body in each archive that has them.
    struct Stretch {
        /// The first tile, along the Hilbert curves.
        var tile: UInt64
        /// How many tiles.
        var count: UInt64
        /// The entry of the old archive; `nil` when it has none of the tiles.
        var old: PMTilesDirectory.Entry?
        /// That of the new archive.
        var new: PMTilesDirectory.Entry?
        /// Whether both have the tiles, with the same body.
        var isEqual = false
    }

    private var old: Side
    private var new: Side
    /// Results for bodies that many tiles have.
    private var known: [Pair: Bool] = [:]
    private static let knownPairs = 4_096

    private struct Pair: Hashable {
        let old: UInt64
        let new: UInt64
        let length: UInt64
    }

    /// The rest of an archive: an entry of which tiles are left, and those after it.
    private struct Side {
        var entries: PMTilesEntries
        var current: PMTilesDirectory.Entry?
        var tile: UInt64 = 0
        var left: UInt64 = 0

        init(_ file: PMTilesFile) { entries = file.entries }

        /// Makes sure that there is a tile, unless the archive ends.
        mutating func fill() throws(ArchiveError) -> Bool {
            guard left == 0 else { return true }
            current = try entries.next()
            (tile, left) = (current?.tile ?? .max, current?.run ?? 0)
            return left > 0
        }

        mutating func take(_ count: UInt64) {
            tile += count
            left -= count
        }
    }

    init(_ old: PMTilesFile, _ new: PMTilesFile) { (self.old, self.new) = (Side(old), Side(new)) }

    /// The next tiles that at least one archive has; `nil` after the last.
    ///
    /// - Parameter isEqual: Compares two bodies of one length: places in the sections of bodies, old and new.
    /// - Throws: ``ArchiveError``, and what `isEqual` throws.
    mutating func next(
        _ isEqual: (_ old: UInt64, _ new: UInt64, _ length: UInt64) throws -> Bool
    ) throws -> Stretch? {
        let (hasOld, hasNew) = (try old.fill(), try new.fill())
        guard hasOld || hasNew else { return nil }
        if !hasNew || hasOld && old.tile < new.tile {
            let count = hasNew ? min(old.left, new.tile - old.tile) : old.left
            defer { old.take(count) }
            return Stretch(tile: old.tile, count: count, old: old.current)
        }
        if !hasOld || new.tile < old.tile {
            let count = hasOld ? min(new.left, old.tile - new.tile) : new.left
            defer { new.take(count) }
            return Stretch(tile: new.tile, count: count, new: new.current)
        }
        let count = min(old.left, new.left)
        defer {
            old.take(count)
            new.take(count)
        }
        var stretch = Stretch(tile: new.tile, count: count, old: old.current, new: new.current)
        if let left = old.current, let right = new.current, left.length == right.length {
            let pair = Pair(old: left.offset, new: right.offset, length: left.length)
            if let answer = known[pair] {
                stretch.isEqual = answer
            } else {
                stretch.isEqual = try isEqual(left.offset, right.offset, left.length)
                if known.count >= Self.knownPairs { known.removeAll(keepingCapacity: true) }
                known[pair] = stretch.isEqual
            }
        }
        return stretch
    }
}
