public import Errors

/// The entries of a PMTiles file that are not pointers, one after another, ascending by tile.
///
/// Memory: one directory of each depth. Work is bounded by the bytes of the directories, because no leaf is entered that
/// does not ascend. Used by one thread at a time.
public struct PMTilesEntries {
    private struct Level {
        let directory: PMTilesDirectory
        var next = 0
    }

    private let file: PMTilesFile
    private var levels: [Level]
    /// The first tile that the next entry may have.
    private var lowest: UInt64 = 0

    init(_ file: PMTilesFile, root: PMTilesDirectory) {
        self.file = file
        levels = [Level(directory: root)]
    }

    /// The next entry; `nil` after the last.
    ///
    /// - Throws: ``ArchiveError`` `.badArchive` when tiles do not ascend, runs overlap, a leaf does not begin with the tile
    ///   its pointer names, a body lies outside its section, or directories nest too deep.
    public mutating func next() throws(ArchiveError) -> PMTilesDirectory.Entry? {
        while let level = levels.last {
            guard level.next < level.directory.entries.count else {
                levels.removeLast()
                continue
            }
            let entry = level.directory.entries[level.next]
            levels[levels.count - 1].next += 1
            guard entry.tile >= lowest else { throw file.disorder(at: entry.tile) }
            if entry.run > 0 {
                _ = try file.place(of: entry)
                // The decoder has refused runs that overflow.
                lowest = entry.tile + entry.run
                return entry
            }
            levels.append(Level(directory: try file.leaf(of: entry, depth: levels.count)))
        }
        return nil
    }
}
