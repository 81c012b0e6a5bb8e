internal import Errors
internal import Files
internal import MetricsFormat
internal import Origins
internal import Scheduling
internal import Synchronization
internal import Transfer

extension WorkerMetrics {
    private typealias Row = WorkerMetric

    /// The page of metrics.
    ///
    /// - Parameters:
    ///   - use: The use of all origins so far, and their requests in flight.
    ///   - disk: The disk of work in hand; `nil` = not known.
    func page(_ use: (sum: OriginBudget.Use, inFlight: Int), disk: DiskSpace? = nil) -> String {
        let state = state.withLock { $0 }
        var text = MetricsText()
        Self.writeTiles(state, to: &text)
        text.each(
            Row.requests,
            [
                "answered": Double(use.sum.answered), "throttled": Double(use.sum.throttled),
                "failed": Double(use.sum.failed),
            ])
        text.single(Row.requestsInFlight, Double(use.inFlight))
        text.family(Row.requestSeconds)
        for kind in OriginFactory.RequestKind.allCases {
            text.histogram(
                Row.requestSeconds, kind.rawValue, histogram: state.durations[kind, default: Histogram()])
        }
        Self.writeLeases(state, to: &text)
        text.single(Row.shardBytes, Double(state.shardBytes))
        text.single(Row.uploads, Double(state.uploads))
        text.single(Row.uploadedBytes, Double(state.uploadedBytes))
        text.each(Row.rejects, Self.words(state.rejects))
        text.single(Row.isConnected, state.isConnected ? 1 : 0)
        text.single(Row.reconnects, Double(max(state.connections, 1) - 1))
        text.single(Row.coordinatorSilence, (ContinuousClock.now - state.heard) / .seconds(1))
        text.single(Row.obeyedEpoch, Double(state.obeyed.highest))
        text.single(Row.ignored, Double(state.obeyed.ignored))
        text.family(Row.freeSpace)
        if let disk { text.sample(Row.freeSpace, value: Double(disk.free)) }
        text.family(Row.diskSize)
        if let disk { text.sample(Row.diskSize, value: Double(disk.total)) }
        ProcessMetrics.write(to: &text)
        return text.text
    }

    private static func writeTiles(_ state: State, to text: inout MetricsText) {
        let failed = state.failed.values.reduce(0, +)
        text.each(
            Row.tiles,
            [
                "found": Double(state.found), "empty": Double(state.empty), "not-modified": Double(state.notModified),
                "failed": Double(failed),
            ])
        text.each(Row.failedTiles, words(state.failed))
        text.single(Row.received, Double(state.received))
    }

    private static func writeLeases(_ state: State, to text: inout MetricsText) {
        text.family(Row.leases)
        for work in Work.allCases {
            for outcome in Outcome.allCases {
                let count = state.ended[work]?[outcome] ?? 0
                text.sample(Row.leases, work.rawValue, outcome.rawValue, value: Double(count))
            }
        }
        text.each(Row.failures, words(state.failures))
        text.single(Row.returned, Double(state.returned))
        text.single(Row.refused, Double(state.refused))
        text.each(
            Row.held,
            [
                "queued": Double(state.held.queued), "running": Double(state.held.running),
                "unacknowledged": Double(state.held.spooled),
            ])
    }

    private static func words<Key: RawRepresentable<String>>(_ counts: [Key: UInt64]) -> [String: Double] {
        Dictionary(counts.map { ($0.key.rawValue, Double($0.value)) }, uniquingKeysWith: +)
    }
}
