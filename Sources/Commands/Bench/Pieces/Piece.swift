import Foundation

/// A piece of the hot path and the baseline beside which it is measured.
struct Piece {
    let name: String
    /// What one run works through, in thousands or millions as ``unit`` says.
    let amount: Double
    /// The unit of a rate, such as `MB/s`.
    let unit: String
    /// What the baseline does with the same bytes.
    let baseline: String
    /// The least part of the baseline's rate that passes.
    ///
    /// Half to two thirds of what the development machine (2 cores, Debian 12, 2026-11) measured when the number was set.
    let threshold: Double
    let run: () throws -> Void
    let runBaseline: () throws -> Void

    /// Runs piece and baseline in turn and makes a row of the medians.
    ///
    /// The first round warms caches and is not counted. A ratio is that of its own round, so that what slows both cancels.
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

/// Takes the time of work on this process.
enum Stopwatch {
    /// Seconds, more than 0.
    struct Time {
        /// Of a processor, all threads of the process together, the kernel's work for it included.
        let cpu: Double
        /// On the wall.
        let wall: Double
    }

    static func time(_ work: () throws -> Void) rethrows -> Time {
        let start = (cpu: seconds(CLOCK_PROCESS_CPUTIME_ID), wall: seconds(CLOCK_MONOTONIC))
        try work()
        return Time(
            cpu: max(1e-9, seconds(CLOCK_PROCESS_CPUTIME_ID) - start.cpu),
            wall: max(1e-9, seconds(CLOCK_MONOTONIC) - start.wall))
    }

    /// The middle one, the upper of two; 0 of none.
    static func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
