import MetricsFormat
import Synchronization

/// Where the loop leaves its last snapshot for those who ask for metrics.
final class MetricsBoard: Sendable {
    private let state = Mutex<(snapshot: MetricsSnapshot, at: ContinuousClock.Instant)?>(nil)

    /// Replaces the snapshot.
    func publish(_ snapshot: MetricsSnapshot) { state.withLock { $0 = (snapshot, .now) } }

    /// The page of metrics; `nil` before the first snapshot.
    func page() -> String? {
        guard let (snapshot, at) = state.withLock({ $0 }) else { return nil }
        var text = MetricsText()
        snapshot.write(to: &text, age: ContinuousClock.now - at)
        ProcessMetrics.write(to: &text)
        return text.text
    }
}
