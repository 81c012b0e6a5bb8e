/// Measures how fast all workers together are answered and refused, from reports that arrive at different times.
///
/// The count of a report is divided by the time since the same worker's previous report. So the sum does not depend on
/// when reports arrive or on the number of workers.
struct RateMeter: Sendable {
    private struct Window {
        var span = 0.0
        var answered = 0.0
        var refused = 0.0
        var occupied = 0.0
        var requests: Double { answered + refused }
    }
    private struct Line {
        var last: Tick
        var isWaiting = false
        var now = Window()
        var before = Window()
    }
    private var lines: [SessionID: Line] = [:]
    private var workers = 0
    private var begin = Tick(milliseconds: .min)
    /// Workers that were silent for this long are considered gone.
    ///
    /// Milliseconds.
    private static let patience: Int64 = 5_000

    /// Adds a report.
    ///
    /// - Returns: Whether everything that it counts happened since ``restart(at:)``.
    mutating func addSample(_ sample: OriginControl.Sample, from session: SessionID, of workers: Int, now: Tick) -> Bool
    {
        self.workers = workers
        guard var line = lines[session] else {
            lines[session] = Line(last: now)
            return false
        }
        let since = line.last
        line.last = max(now, since)
        line.isWaiting = sample.isWaiting
        defer { lines[session] = line }
        guard since >= begin, now - since < Self.patience else { return false }
        line.now.span += Double(now - since) / 1_000
        line.now.answered += sample.answered
        line.now.refused += sample.refused
        line.now.occupied += sample.occupied
        return true
    }

    /// Starts over: a report counts if the previous one came at `begin` or later.
    mutating func restart(at begin: Tick) {
        self.begin = begin
        for id in lines.keys {
            lines[id]?.now = Window()
            lines[id]?.before = Window()
        }
    }

    /// Starts another window.
    ///
    /// The previous one still counts.
    mutating func startWindow() {
        let newest = lines.values.map(\.last).max() ?? begin
        lines = lines.filter { newest - $0.value.last < Self.patience }
        for id in lines.keys {
            guard let line = lines[id], line.now.span >= 0.5 else { continue }
            lines[id]?.before = line.now
            lines[id]?.now = Window()
        }
    }

    func hasMeasured(_ least: Int64) -> Bool {
        let spans = lines.values.map { ($0.now.span + $0.before.span) * 1_000 }
        // Most workers have reported, or the others are too slow to wait for.
        return spans.count { $0 >= Double(least) } * 2 > spans.count || spans.contains { $0 >= 5 * Double(least) }
    }

    /// Answers per second, of the whole cluster.
    var answered: Double { perSecond(\.answered) }
    var refused: Double { perSecond(\.refused) }
    /// Answered requests in flight at once, on average.
    var occupied: Double { perSecond(\.occupied) / 1_000 }

    /// Whether most of the workers with requests have waiting requests.
    var isWaiting: Bool {
        let asking = lines.values.count { $0.isWaiting || $0.now.requests + $0.before.requests > 0 }
        return lines.values.count(where: \.isWaiting) * 2 > asking
    }

    private func perSecond(_ path: KeyPath<Window, Double>) -> Double {
        var sum = 0.0
        var measured = 0
        for id in lines.keys.sorted() {
            guard let line = lines[id], line.now.span + line.before.span > 0 else { continue }
            sum += (line.now[keyPath: path] + line.before[keyPath: path]) / (line.now.span + line.before.span)
            measured += 1
        }
        // Workers without a report in this window are assumed to behave like the others.
        return measured == 0 ? 0 : sum * Double(max(workers, measured)) / Double(measured)
    }
}
