internal import PackageFiles
internal import TileBodies

/// Finds what the metadata of a package says of its tiles, while they pass in the order of rows.
struct MergeFindings {
    /// Tiles that have passed.
    private(set) var tiles: UInt64 = 0
    private let spec: PackageSpec
    private var hash: MergeHash
    private var layers: MergeLayers?
    private var pictures = PictureCounts()
    private var fill: FillTally

    /// What was found.
    struct Outcome {
        /// `agg_tiles_hash`.
        let hash: String
        /// What the tiles are: of pictures the stated format, or the one that most of them have.
        let format: TileFormat
        /// What looks wrong about the tiles.
        let remark: String
        /// The rows of the metadata in the order of the file.
        let rows: [(name: String, value: String)]
    }

    /// - Parameters:
    ///   - memory: A cache of the layers of bodies.
    ///   - isAlone: Whether the calling thread does all of the work.
    init(_ spec: PackageSpec, _ memory: LayerCache, isAlone: Bool = false) {
        self.spec = spec
        hash = isAlone ? .here(TilesHash()) : .aside(.tilesHash())
        layers = MergeLayers(spec.metadata, memory, isAlone: isAlone)
        fill = FillTally(spec)
    }

    /// Takes tiles that follow all previous ones, and passes each on with its body.
    mutating func add(_ tiles: [MergeTile], each: (MergeTile, UnsafeRawBufferPointer) throws -> Void) throws {
        hash.add(tiles)
        try layers?.add(tiles)
        let stated = spec.metadata.format
        for tile in tiles {
            try tile.content.withUnsafeBytes { content in
                let bytes = UnsafeRawBufferPointer(rebasing: content[tile.range])
                if tile.isNew, !stated.traits.isVector { pictures.add(bytes, stated: stated) }
                try each(tile, bytes)
                fill.add(tile, bytes)
            }
        }
        self.tiles += UInt64(tiles.count)
    }

    /// Waits for the threads that look at the bodies.
    ///
    /// - Throws: What these threads throw.
    func finish() throws -> Outcome {
        let hash = try hash.finish()
        var metadata = spec.metadata
        // An area of an archive with PNG and JPEG can have one of them alone.
        metadata.format = pictures.mostFrequent(orStated: metadata.format) ?? metadata.format
        let rows = try metadata.rows(
            zooms: spec.zooms, tilesHash: hash, foundLayers: try layers?.finish(), isFlat: spec.formatVersion >= 2)
        return Outcome(hash: hash, format: metadata.format, remark: fill.remark, rows: rows)
    }
}
