import Tiles
import Tilesets

/// Finds the archive of a source of several that has a tile.
struct ArchiveLookup: Sendable {
    private var cells: [TileID: [Int]] = [:]
    private var cellZooms: Set<Int> = []
    private var worlds: [Int] = []
    private let zooms: [ZoomRange]

    /// - Parameter parts: In their order; of several that can have a tile, the first has it.
    init(_ parts: [ArchivePart]) {
        zooms = parts.map(\.zooms)
        for (index, part) in parts.enumerated() {
            switch part.extent {
            case .world: worlds.append(index)
            case .cell(let cell):
                cells[cell, default: []].append(index)
                cellZooms.insert(cell.zoom)
            case .cells: break
            }
        }
    }

    /// The number of the archive; `nil` when none can have the tile.
    func part(of tile: TileID) -> Int? {
        var found = worlds.first { zooms[$0].contains(tile.zoom) }
        for zoom in cellZooms where zoom <= tile.zoom {
            let inCell = tile.ancestor(atZoom: zoom).flatMap { cells[$0]?.first { zooms[$0].contains(tile.zoom) } }
            if let inCell { found = min(found ?? inCell, inCell) }
        }
        return found
    }
}
