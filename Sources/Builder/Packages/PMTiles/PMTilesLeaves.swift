internal import Files
internal import PMTiles
internal import PackageFiles
internal import TileBodies

/// Cuts the entries of a PMTiles file into directories.
enum PMTilesLeaves {
    /// Largest packed root directory, in bytes.
    static let rootLimit = Int(PMTilesHeader.rootEnd) - PMTilesHeader.size
    /// Entries that are tried as one directory: fewer than could ever fit at a byte each.
    private static let rootEntries = 16_384
    /// Entries of the smallest leaf: some 20 KB packed, one request of a reader.
    static let leafEntries = 4_096

    /// Appends the leaf directories to the file, if any are needed.
    ///
    /// - Returns: The packed root directory, at most ``rootLimit`` bytes.
    static func write(_ entries: Spool<PMTilesDirectory.Entry>, to file: NewFile) throws -> [UInt8] {
        let packer = GzipPacker()
        if entries.count <= rootEntries {
            let root = packer.compress(PMTilesDirectory(entries: try entries.read(0..<entries.count)).encoded)
            if root.count <= rootLimit { return root }
        }
        let start = file.size
        var size = leafEntries
        while true {
            let root = packer.compress(try write(entries, leafSize: size, from: start, to: file, packer).encoded)
            if root.count <= rootLimit { return root }
            // The loop ends, because a root with one pointer always fits.
            try file.truncate(to: start)
            size *= 2
        }
    }

    private static func write(
        _ entries: Spool<PMTilesDirectory.Entry>, leafSize: Int, from start: UInt64, to file: NewFile,
        _ packer: GzipPacker
    ) throws -> PMTilesDirectory {
        var pointers: [PMTilesDirectory.Entry] = []
        for first in stride(from: 0, to: entries.count, by: leafSize) {
            let leaf = PMTilesDirectory(entries: try entries.read(first..<min(first + leafSize, entries.count)))
            let bytes = packer.compress(leaf.encoded)
            pointers.append(
                PMTilesDirectory.Entry(
                    tile: leaf.entries.first?.tile ?? 0, run: 0, length: UInt64(bytes.count), offset: file.size - start)
            )
            try file.write(bytes)
        }
        return PMTilesDirectory(entries: pointers)
    }
}
