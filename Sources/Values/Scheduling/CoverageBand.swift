public import Tiles

/// What is known about the tiles of a cell; the raw value is its byte in a coverage document.
public enum CellState: UInt8, Sendable, Hashable, CaseIterable {
    /// No tile of the job.
    case outside = 0
    /// Waiting for a worker, or for the next attempt.
    case waiting = 1
    /// Granted to a worker.
    case inWork = 2
    /// All tiles have a body.
    case stored = 3
    /// Some tiles have a body; the origin has none for the others.
    case storedWithEmpty = 4
    /// The origin has no body for any tile.
    case empty = 5
    /// Some tiles failed.
    case withFailures = 6
    /// The batch was given up.
    case givenUp = 7
    /// Divided into batches of its own. Bands have the parts instead, so this version never writes it.
    case divided = 8
    /// The origin confirmed all bodies of an earlier build.
    case unchanged = 9

    /// The state of a batch; `nil` for one whose parts say it.
    init?(_ batch: Batch) {
        switch batch.state {
        case .ready, .backoff: self = .waiting
        case .leased: self = .inWork
        case .dead: self = .givenUp
        case .split: return nil
        case .done:
            let result = batch.result
            self =
                if result.failed > 0 {
                    .withFailures
                } else if result.stored == 0 {
                    .empty
                } else if result.notModified >= result.stored {
                    .unchanged
                } else {
                    result.empty > 0 ? .storedWithEmpty : .stored
                }
        }
    }

    /// From the best to the worst.
    private static let order: [CellState] = [
        .outside, .unchanged, .stored, .storedWithEmpty, .empty, .divided, .inWork, .waiting, .withFailures, .givenUp,
    ]

    /// The position of each byte from the best to the worst.
    static let ranks: [UInt8] = allCases.map { state in UInt8(order.firstIndex(of: state) ?? 0) }
}

/// The cells of a job's batches of some zooms, as a picture with one byte for each square.
///
/// A byte stands for 2^`shift` × 2^`shift` cells and has the worst of their states.
public struct CoverageBand: Hashable, Sendable {
    /// The longest side of a band: 13 bands of this size fit into one message.
    public static let largestSize = 512

    /// The zooms of the batches.
    public let zooms: ZoomRange
    /// The zoom of the smallest cell.
    public let cellZoom: Int
    /// How often the sides were halved.
    public let shift: Int
    /// The column of the first byte at zoom `cellZoom - shift`.
    public let x: Int
    /// The row of the first byte at zoom `cellZoom - shift`, from the north.
    public let y: Int
    /// Bytes in a row.
    public let width: Int
    /// Number of rows.
    public let height: Int
    /// Row by row from the north-west: raw values of ``CellState``.
    public let cells: [UInt8]

    /// Draws batches; `nil` when none has a state.
    ///
    /// - Parameter size: The longest side, at least 1.
    init?(_ batches: some Collection<Batch>, zooms: ZoomRange, size: Int) {
        var cellZoom = 0
        for batch in batches where batch.state != .split { cellZoom = max(cellZoom, batch.cell.zoom) }
        var (west, north, east, south) = (Int.max, Int.max, 0, 0)
        for batch in batches where batch.state != .split {
            let scale = cellZoom - batch.cell.zoom
            west = min(west, batch.cell.x << scale)
            north = min(north, batch.cell.y << scale)
            east = max(east, (batch.cell.x + 1) << scale)
            south = max(south, (batch.cell.y + 1) << scale)
        }
        guard west < east else { return nil }
        var shift = 0
        func up(_ value: Int) -> Int { (value + (1 << shift) - 1) >> shift }
        while up(east) - (west >> shift) > size || up(south) - (north >> shift) > size { shift += 1 }
        self.zooms = zooms
        self.cellZoom = cellZoom
        self.shift = shift
        (x, y) = (west >> shift, north >> shift)
        (width, height) = (up(east) - x, up(south) - y)
        var cells = [UInt8](repeating: CellState.outside.rawValue, count: width * height)
        let ranks = CellState.ranks
        for batch in batches {
            guard let state = CellState(batch)?.rawValue else { continue }
            let scale = cellZoom - batch.cell.zoom
            let columns = ((batch.cell.x << scale) >> shift) - x..<up((batch.cell.x + 1) << scale) - x
            for row in ((batch.cell.y << scale) >> shift) - y..<up((batch.cell.y + 1) << scale) - y {
                for place in row * width + columns.lowerBound..<row * width + columns.upperBound
                where ranks[Int(state)] > ranks[Int(cells[place])] { cells[place] = state }
            }
        }
        self.cells = cells
    }
}

extension Scheduler {
    /// The cells of a running job, the deepest zooms first; none for a job that has ended, `nil` for an unknown one.
    ///
    /// - Parameter size: The longest side of a band, 1...``CoverageBand/largestSize``.
    public func coverage(of id: JobID, size: Int) -> [CoverageBand]? {
        guard summary(of: id) != nil else { return nil }
        let batches = batches(of: id)
        // Batches that were divided stay, so the zooms of their parts lie within those of a planned batch.
        var spans: [ZoomRange: [Int]] = [:]
        for index in batches.indices { spans[batches[index].zooms, default: []].append(index) }
        let widest = spans.keys.filter { one in !spans.keys.contains { $0 != one && $0.contains(one) } }
        return widest.sorted { $0.min > $1.min }.compactMap { span in
            let members = spans.filter { span.contains($0.key) }.values.flatMap(\.self)
            return CoverageBand(members.lazy.map { batches[$0] }, zooms: span, size: size)
        }
    }
}

extension ZoomRange {
    fileprivate func contains(_ other: ZoomRange) -> Bool { min <= other.min && other.max <= max }
}
