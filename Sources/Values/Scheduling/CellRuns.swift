import Tiles

/// A list of cells as runs: sequences at one zoom, ascending along the Hilbert curve, that allow binary search.
///
/// The planner's batches form one run per band. Cells that are appended later form further runs.
struct CellRuns: Hashable, Sendable {
    struct Run: Hashable, Sendable {
        let zoom: Int
        var indices: Range<Int>
    }

    private(set) var runs: [Run] = []
    /// The number of cells in the runs.
    private(set) var count = 0

    init() {}

    init(_ cells: [TileID]) { extend(to: cells.count) { cells[$0] } }

    /// Adds the cells that were appended since the last call.
    mutating func extend(to total: Int, _ cell: (Int) -> TileID) {
        while count < total {
            let next = cell(count)
            if let last = runs.last, last.zoom == next.zoom, cell(count - 1) < next {
                runs[runs.count - 1].indices = last.indices.lowerBound..<(count + 1)
            } else {
                runs.append(Run(zoom: next.zoom, indices: count..<(count + 1)))
            }
            count += 1
        }
    }

    /// The indices of all cells that are equal to `wanted`, above it or below it: first those at its own zoom, then the
    /// coarser, then the finer ones.
    func touching(_ wanted: TileID, _ cell: (Int) -> TileID) -> [Int] {
        var (same, wider, finer): ([Int], [Int], [Int]) = ([], [], [])
        for run in runs {
            if run.zoom <= wanted.zoom {
                guard let ancestor = wanted.ancestor(atZoom: run.zoom) else { continue }
                let place = Self.firstIndex(in: run.indices) { cell($0) >= ancestor }
                guard run.indices.contains(place), cell(place) == ancestor else { continue }
                if run.zoom == wanted.zoom { same.append(place) } else { wider.append(place) }
            } else {
                // Tiles below one tile are one section of the curve: earlier tiles have a lower ancestor.
                var place = Self.firstIndex(in: run.indices) { index in
                    cell(index).ancestor(atZoom: wanted.zoom).map { $0 >= wanted } ?? true
                }
                while run.indices.contains(place), wanted.contains(cell(place)) {
                    finer.append(place)
                    place += 1
                }
            }
        }
        return same + wider + finer
    }

    /// The first index for which `isBehind` is true; it is true for all later indices too.
    private static func firstIndex(in range: Range<Int>, _ isBehind: (Int) -> Bool) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
