internal import Tiles

/// The area of tiles of one zoom, stored as runs of rows per column; tiles can be added in any order.
struct TileRectangles: Hashable {
    let zoom: Int
    /// Disjoint, ascending and not touching once ``joinRuns()`` was called.
    private(set) var columns: [Int: [ClosedRange<Int>]] = [:]
    private var areJoined = true

    init(zoom: Int) { self.zoom = zoom }

    /// Columns and rows of one rectangle, both ends included.
    struct Rectangle: Hashable {
        let columns: ClosedRange<Int>
        let rows: ClosedRange<Int>
        var count: UInt64 { UInt64(columns.count) * UInt64(rows.count) }
    }

    /// Adds a tile; rows count from the north.
    mutating func add(_ column: Int, _ row: Int) {
        var runs = columns[column, default: []]
        if let last = runs.last, last.upperBound + 1 == row {
            runs[runs.count - 1] = last.lowerBound...row
        } else if let last = runs.last, last.lowerBound - 1 == row {
            runs[runs.count - 1] = row...last.upperBound
        } else if runs.last?.contains(row) != true {
            runs.append(row...row)
            areJoined = false
        }
        columns[column] = runs
    }

    /// Puts the runs in order.
    mutating func joinRuns() {
        guard !areJoined else { return }
        columns = columns.mapValues { runs in
            var joined: [ClosedRange<Int>] = []
            for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) {
                if let last = joined.last, run.lowerBound <= last.upperBound + 1 {
                    joined[joined.count - 1] = last.lowerBound...max(last.upperBound, run.upperBound)
                } else {
                    joined.append(run)
                }
            }
            return joined
        }
        areJoined = true
    }

    /// Tiles in all.
    var count: UInt64 { columns.values.joined().reduce(0) { $0 + UInt64($1.count) } }

    /// The smallest rectangle around all; `nil` when there is none.
    var bounds: Rectangle? {
        guard let west = columns.keys.min(), let east = columns.keys.max(),
            let north = columns.values.compactMap({ $0.map(\.lowerBound).min() }).min(),
            let south = columns.values.compactMap({ $0.map(\.upperBound).max() }).max()
        else { return nil }
        return Rectangle(columns: west...east, rows: north...south)
    }

    /// The tiles one zoom up whose four children are all here.
    func wholeParents() -> TileRectangles {
        var parents = TileRectangles(zoom: max(0, zoom - 1))
        for (column, runs) in columns where column % 2 == 0 {
            guard let others = columns[column + 1] else { continue }
            for run in runs {
                for other in others where other.overlaps(run) {
                    let both = run.clamped(to: other)
                    let (first, last) = ((both.lowerBound + 1) / 2, (both.upperBound - 1) / 2)
                    guard both.count > 1, first <= last else { continue }
                    parents.columns[column / 2, default: []].append(first...last)
                    parents.areJoined = false
                }
            }
        }
        parents.joinRuns()
        return parents
    }

    /// Rectangles that make up the area, from west to east: neighbouring columns with the same run are one.
    ///
    /// None is wider than a quarter of the world, so that no reader interprets an edge as one across the antimeridian.
    func rectangles() -> [Rectangle] {
        let widest = max(1, (1 << zoom) / 4)
        var open: [ClosedRange<Int>: Int] = [:]
        var done: [Rectangle] = []
        var last = -2
        for column in columns.keys.sorted() + [Int.max] {
            let runs = Set(columns[column] ?? [])
            for (run, start) in open.sorted(by: { $0.key.lowerBound < $1.key.lowerBound })
            where column != last + 1 || !runs.contains(run) || column - start >= widest {
                done.append(Rectangle(columns: start...last, rows: run))
                open[run] = nil
            }
            for run in runs where open[run] == nil { open[run] = column }
            last = column
        }
        return done.sorted {
            ($0.columns.lowerBound, $0.rows.lowerBound) < ($1.columns.lowerBound, $1.rows.lowerBound)
        }
    }
}
