internal import Digests
internal import Files
internal import Tiles

/// Whether one body fills much of the deepest zoom although the tiles above differ: then it may be a picture that says "no map here".
///
/// The sea has one body at all zooms, so the tiles above its tiles have one body too. Memory: a fixed sample of at most about 65,536 tiles
/// of the zoom above, and their children.
struct FillTally {
    private struct Child {
        var count = 0
        var firstParent: UInt32
        /// Tiles whose parent has another body than the first one's.
        var otherParents = 0
        var digest: Digest?
        var bytes = 0
    }

    private let zoom: Int
    private let sample: TileSample
    private var parents: [UInt64: UInt32] = [:]
    private var children: [UInt32: Child] = [:]
    private var total = 0

    private static let most: UInt64 = 65_536
    /// A body on fewer sampled tiles is no sign.
    private static let least = 8

    init(_ spec: PackageSpec) {
        zoom = spec.zooms.max
        let above = zoom > spec.zooms.min ? spec.mask.count(atZoom: zoom - 1) : 0
        sample = TileSample(of: above, most: Self.most)
    }

    /// Counts a tile; those of a zoom come after those of the zoom above.
    mutating func add(_ tile: MergeTile, _ body: UnsafeRawBufferPointer) {
        if tile.zoom == zoom - 1 {
            let place = Self.place(tile.column, tile.row)
            if sample.contains(place) { parents[place] = tile.number }
        } else if tile.zoom == zoom {
            let place = Self.place(tile.column >> 1, tile.row >> 1)
            guard sample.contains(place), let parent = parents[place] else { return }
            total += 1
            // A body of a single tile is no sign, and most bodies are.
            guard tile.occursAgain else { return }
            var child = children[tile.number] ?? Child(firstParent: parent)
            child.count += 1
            if child.firstParent != parent { child.otherParents += 1 }
            if child.count == Self.least { (child.digest, child.bytes) = (Digest(of: body), body.count) }
            children[tile.number] = child
        }
    }

    private static func place(_ column: Int, _ row: Int) -> UInt64 { UInt64(column) << 32 | UInt64(row) }

    /// A sentence about the body, when it has a tenth of the tiles and at least half of their parents differ; else the empty text.
    var remark: String {
        let most = children.values.filter { $0.digest != nil && $0.otherParents * 2 >= $0.count }
            .max { ($0.count, $0.bytes, $0.digest?.hex ?? "") < ($1.count, $1.bytes, $1.digest?.hex ?? "") }
        guard let most, most.count * 10 >= total, let digest = most.digest else { return "" }
        let share = (most.count * 100 + total / 2) / max(1, total)
        return
            "\(share) % of the tiles at zoom \(zoom) have one body of \(most.bytes) bytes, although the tiles above them differ; if it means that there is no tile, add to the tileset: reject: [\"\(digest.hex)\"]"
    }
}
