public import Tiles

/// The part of a package that a file has, where the package has a larger file than its job allows.
public struct MergedPart: Hashable, Sendable {
    /// Counts from 1.
    public var number: UInt32
    /// Tiles in the part.
    public var tiles: UInt64
    /// `agg_tiles_hash` of its tiles.
    public var tilesHash: String
    /// Where its run of the Hilbert curve begins.
    public var first: TileID
    /// Every part has all tiles of the zooms below this number.
    public var common: Int

    /// A part of a package.
    public init(number: UInt32, tiles: UInt64, tilesHash: String, first: TileID, common: Int) {
        self.number = number
        self.tiles = tiles
        self.tilesHash = tilesHash
        self.first = first
        self.common = common
    }

    /// The mask of the part in that of the package.
    ///
    /// - Parameter next: The first tile of the part behind it; `nil` for the last one.
    public func mask(in whole: TileMask, before next: TileID?) -> TileMask {
        whole.part(from: first, before: next, common: common)
    }
}

extension MergedPackage {
    /// The files of each part in the order of their numbers; none for a package that is not in parts.
    public var parts: [(part: MergedPart, files: [MergedFile])] {
        var parts: [(part: MergedPart, files: [MergedFile])] = []
        for file in files {
            guard let part = file.part else { continue }
            if parts.last?.part.number == part.number {
                parts[parts.count - 1].files.append(file)
            } else {
                parts.append((part, [file]))
            }
        }
        return parts
    }

    /// Whether it has exactly these formats besides an MBTiles file; as parts: whether each part has them, and each or none its MBTiles file.
    ///
    /// Without MBTiles its main file is one of the files; which of both a job wants, its coordinator knows.
    func hasFormats(_ formats: [String]) -> Bool {
        let parts = parts
        guard let first = parts.first else { return files.map(\.format) == formats }
        let hasMBTiles = first.files.contains { $0.format == "mbtiles" }
        let all = (formats + (hasMBTiles ? ["mbtiles"] : [])).sorted()
        return parts.reduce(0) { $0 + $1.files.count } == files.count
            && parts.allSatisfy { $0.files.map(\.format) == all }
            && first.files.contains { $0.digest == digest && (!hasMBTiles || $0.format == "mbtiles") }
    }
}
