internal import Tiles

/// Which of many masks can hold a tile: for each cell down to zoom 6, the masks that hold the cell.
///
/// A look-up reads one list. The masks of the list are then asked themselves. The planet has 5,461 such cells.
struct CellIndex: Sendable {
    /// The deepest zoom of the cells.
    static let zoom = 6
    private static let cells = (1 << (2 * (zoom + 1))) / 3

    /// Where the list of each cell starts in `numbers`; one more at the end.
    private let starts: [UInt32]
    private let numbers: [UInt32]

    /// Makes the lists.
    ///
    /// - Parameter masks: In the order in which a look-up must find them.
    init(_ masks: [TileMask]) {
        var counts = [UInt32](repeating: 0, count: Self.cells + 1)
        var pairs: [(cell: Int, number: UInt32)] = []
        for (number, mask) in masks.enumerated() {
            guard let zooms = ZoomRange(min: 0, max: min(Self.zoom, mask.maxZoom)) else { continue }
            for tile in mask.tiles(in: zooms) {
                let cell = Self.number(of: tile)
                counts[cell + 1] += 1
                pairs.append((cell, UInt32(number)))
            }
        }
        for cell in 0..<Self.cells { counts[cell + 1] += counts[cell] }
        starts = counts
        var next = counts
        var numbers = [UInt32](repeating: 0, count: pairs.count)
        for pair in pairs {
            numbers[Int(next[pair.cell])] = pair.number
            next[pair.cell] += 1
        }
        self.numbers = numbers
    }

    /// The numbers of the masks that can hold a tile, ascending.
    func candidates(for tile: TileID) -> ArraySlice<UInt32> {
        let cell = Self.number(of: tile.zoom <= Self.zoom ? tile : tile.ancestor(atZoom: Self.zoom) ?? tile)
        return numbers[Int(starts[cell])..<Int(starts[cell + 1])]
    }

    /// Cells are counted zoom by zoom, within a zoom row by row.
    private static func number(of tile: TileID) -> Int {
        ((1 << (2 * tile.zoom)) - 1) / 3 + tile.y << tile.zoom + tile.x
    }
}
