/// Tiles of a mask, lazily, in ascending order of ``TileID/hilbertID``: zoom by zoom, along the curve within a zoom.
///
/// The state of an iterator is at most four nodes a zoom; nothing is collected beforehand. A second iteration starts
/// from the beginning.
public struct TileSequence: Sequence, Sendable {
    let mask: TileMask
    let cell: TileID
    /// First and last zoom; empty when first > last.
    let first: Int
    let last: Int

    init(mask: TileMask, zooms: ZoomRange, cell: TileID) {
        self.mask = mask
        self.cell = cell
        first = Swift.max(zooms.min, cell.zoom)
        last = Swift.min(zooms.max, mask.maxZoom)
    }

    /// Starts at the first tile.
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Walks the tiles of a ``TileSequence``.
    public struct Iterator: IteratorProtocol {
        /// A node still to be walked: its position, and the orientation of the curve inside it.
        private struct Frame {
            let node: MaskNode
            let x: UInt32
            let y: UInt32
            let zoom: UInt8
            let orientation: UInt8
        }

        private let mask: TileMask
        private let start: Frame
        private let walk = HilbertCurve.walk
        private let last: Int
        private var zoom: Int
        private var frames: [Frame] = []

        init(_ tiles: TileSequence) {
            mask = tiles.mask
            start = Frame(
                node: mask.node(at: tiles.cell), x: UInt32(tiles.cell.x), y: UInt32(tiles.cell.y),
                zoom: UInt8(tiles.cell.zoom), orientation: UInt8(tiles.cell.hilbertOrientation))
            last = start.node.isPresent ? tiles.last : -1
            zoom = tiles.first - 1
            frames.reserveCapacity(3 * TileID.maxZoom + 4)
        }

        /// The next tile, `nil` after the last.
        public mutating func next() -> TileID? {
            while true {
                while let frame = frames.popLast() {
                    if Int(frame.zoom) == zoom {
                        return TileID(trusted: zoom, Int(frame.x), Int(frame.y))
                    }
                    push(frame)
                }
                guard zoom < last else { return nil }
                zoom += 1
                frames.append(start)
            }
        }

        /// Puts the children that can hold tiles of the zoom on the stack, the first along the curve on top.
        @inline(__always)
        private mutating func push(_ frame: Frame) {
            if frame.node.isUniform && frame.node.depth < zoom { return }
            for place in 0..<UInt32(4) {
                let step = HilbertCurve.step(in: walk, orientation: UInt32(frame.orientation), index: 3 - place)
                let child = mask.child(Int(step.value ^ 2), of: frame.node, zoom: Int(frame.zoom))
                guard child.isPresent else { continue }
                frames.append(
                    Frame(
                        node: child, x: frame.x << 1 | step.value & 1, y: frame.y << 1 | step.value >> 1,
                        zoom: frame.zoom + 1, orientation: UInt8(truncatingIfNeeded: step.inside)))
            }
        }
    }
}

extension TileMask {
    /// The tiles of a run of zooms, ascending by ``TileID/hilbertID``.
    public func tiles(in zooms: ZoomRange) -> TileSequence {
        TileSequence(mask: self, zooms: zooms, cell: .root)
    }

    /// The tiles of a run of zooms that are the cell or lie below it, ascending by ``TileID/hilbertID``.
    public func tiles(in zooms: ZoomRange, under cell: TileID) -> TileSequence {
        TileSequence(mask: self, zooms: zooms, cell: cell)
    }

    /// The tiles of one zoom that are the cell or lie below it; none when the zoom is above the cell or out of range.
    public func tiles(atZoom zoom: Int, under cell: TileID) -> TileSequence {
        guard let zooms = ZoomRange(min: zoom, max: zoom) else {
            return TileSequence(mask: TileMask(empty: 0), zooms: ZoomRange(trusted: 0, 0), cell: .root)
        }
        return TileSequence(mask: self, zooms: zooms, cell: cell)
    }
}
