import Foundation

/// A measured code path and its baseline.
struct Piece {
    let name: String
    /// The amount of work of one run, in thousands or millions according to ``unit``.
    let amount: Double
    /// The unit of a rate, such as `MB/s`.
    let unit: String
    /// What the baseline does with the same bytes.
    let baseline: String
    /// The smallest accepted ratio to the baseline's rate.
    ///
    /// Half to two thirds of the ratio on the development machine (2 cores, Debian 12, 2026-11) when the number was
    /// set.
    let threshold: Double
    let run: () throws -> Void
    let runBaseline: () throws -> Void

    /// Runs the code path and its baseline alternately and makes a row of the medians.
    ///
    /// The first round warms caches and is not counted. Each ratio is of one round, so that slowdowns of both cancel
    /// out.
    func measure(rounds: Int) throws -> PieceRow {
        var times: [(piece: Stopwatch.Time, baseline: Stopwatch.Time)] = []
        for round in 0...rounds {
            let pair = (piece: try Stopwatch.time(run), baseline: try Stopwatch.time(runBaseline))
            if round > 0 { times.append(pair) }
        }
        return PieceRow(
            piece: name, unit: unit, value: amount / Stopwatch.median(times.map(\.piece.cpu)), baseline: baseline,
            baselineValue: amount / Stopwatch.median(times.map(\.baseline.cpu)),
            ratio: Stopwatch.median(times.map { $0.baseline.cpu / $0.piece.cpu }),
            wallRatio: Stopwatch.median(times.map { $0.baseline.wall / $0.piece.wall }), threshold: threshold)
    }
}

/// Measures the time of work in this process.
enum Stopwatch {
    /// Seconds, above 0.
    struct Time {
        /// Processor time of all threads of the process, including kernel time.
        let cpu: Double
        /// Wall time.
        let wall: Double
    }

    static func time(_ work: () throws -> Void) rethrows -> Time {
        let start = (cpu: cpuSeconds, wall: ProcessInfo.processInfo.systemUptime)
        try work()
        return Time(
            cpu: max(1e-9, cpuSeconds - start.cpu),
            wall: max(1e-9, ProcessInfo.processInfo.systemUptime - start.wall))
    }

    /// The median, the upper one of two; 0 for an empty list.
    static func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

    /// The CPU time of this process.
    private static var cpuSeconds: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
