internal import Regions
internal import Synchronization
internal import Tiles

/// The land of one cell: the parts that meet it, clipped to it, and the labels in it.
final class LandCell: Sendable {
    struct Piece: Sendable {
        let part: Int
        let rings: [LandRing]
    }

    let pieces: [Piece]
    let labels: [Int]
    let pointCount: Int

    init(pieces: [Piece], labels: [Int]) {
        self.pieces = pieces
        self.labels = labels
        pointCount = pieces.reduce(0) { $0 + $1.rings.reduce(0) { $0 + $1.points.count } }
    }
}

/// Cells at zooms 0, 3, 6, …: each is clipped from the one above at its first use, and cached while it is used.
///
/// A cell depends only on the land and its tile; the cache affects only speed.
final class LandCells: Sendable {
    /// Cells are this many zooms apart: a cell serves 8 to 512 tiles.
    static let step = 3
    /// Two generations of this many points at most are kept: together some 20 MB.
    ///
    /// Unit: points, one more per 8 of a cell.
    static let keptPoints = 400_000

    let parts: [LandPart]
    private let root: LandCell
    private let kept = Mutex(Generations())

    private struct Generations {
        var young: [TileID: LandCell] = [:]
        var old: [TileID: LandCell] = [:]
        var youngPoints = 0
    }

    init(_ tree: RegionTree) {
        parts = tree.regions.filter { $0.kind == .country || $0.kind == .region }
            .map { LandPart($0, tree.shape(of: $0.id)) }
        root = LandCell(
            pieces: parts.indices.map { [parts] in LandCell.Piece(part: $0, rings: parts[$0].rings) },
            labels: Array(parts.indices))
    }

    /// The cell to cut a tile from: the deepest one above it.
    func cell(for tile: TileID) -> LandCell { cell(of: tile, level: max(0, tile.zoom - 1) / Self.step * Self.step) }

    private func cell(of tile: TileID, level: Int) -> LandCell {
        guard level > 0, let square = tile.ancestor(atZoom: level) else { return root }
        if let known = kept.withLock({ Self.find(square, in: &$0) }) { return known }
        let cell = cut(square, from: cell(of: tile, level: level - Self.step))
        kept.withLock { Self.cache(cell, for: square, in: &$0) }
        return cell
    }

    private func cut(_ square: TileID, from parent: LandCell) -> LandCell {
        let clip = ClipBox(around: square)
        let pieces = parent.pieces.compactMap { piece -> LandCell.Piece? in
            let rings = piece.rings.compactMap { $0.clipped(to: clip) }
            return rings.isEmpty ? nil : LandCell.Piece(part: piece.part, rings: rings)
        }
        return LandCell(pieces: pieces, labels: parent.labels.filter { ClipBox.holds(square, parts[$0].label) })
    }

    private static func find(_ square: TileID, in kept: inout Generations) -> LandCell? {
        if let cell = kept.young[square] { return cell }
        guard let cell = kept.old.removeValue(forKey: square) else { return nil }
        cache(cell, for: square, in: &kept)
        return cell
    }

    private static func cache(_ cell: LandCell, for square: TileID, in kept: inout Generations) {
        guard kept.young.updateValue(cell, forKey: square) == nil else { return }
        kept.youngPoints += cell.pointCount + 8
        guard kept.youngPoints > keptPoints else { return }
        kept.old = kept.young
        kept.young = [:]
        kept.youngPoints = 0
    }
}
