import Tiles

/// A list of cells as runs: stretches of one zoom that ascend along the Hilbert curve, in which a cell is found by halving.
///
/// The planner's batches make one run a band; cells appended later make runs of their own.
struct CellRuns: Hashable, Sendable {
    struct Run: Hashable, Sendable {
        let zoom: Int
        var indices: Range<Int>
    }

    private(set) var runs: [Run] = []
    /// How many cells the runs cover.
    private(set) var count = 0

    init() {}

    init(_ cells: [TileID]) { extend(to: cells.count) { cells[$0] } }

    /// Takes cells in that were appended since.
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

    /// The indices of all cells that are `wanted`, above it or below it: those at its own zoom first, then the wider, then the finer.
    func touching(_ wanted: TileID, _ cell: (Int) -> TileID) -> [Int] {
        var (same, wider, finer): ([Int], [Int], [Int]) = ([], [], [])
        for run in runs {
            if run.zoom <= wanted.zoom {
                guard let ancestor = wanted.ancestor(atZoom: run.zoom) else { continue }
                let place = Self.firstIndex(in: run.indices) { cell($0) >= ancestor }
                guard run.indices.contains(place), cell(place) == ancestor else { continue }
                if run.zoom == wanted.zoom { same.append(place) } else { wider.append(place) }
            } else {
                // Tiles below one tile are one stretch of the curve: those before it compare lower by their ancestor.
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

    /// The first index of which `isBehind` holds, which holds for all after it too.
    private static func firstIndex(in range: Range<Int>, _ isBehind: (Int) -> Bool) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
