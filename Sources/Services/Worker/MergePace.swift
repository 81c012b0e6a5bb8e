internal import Synchronization

/// Decides before which merges freed memory is given back to the system.
///
/// That takes as long as a small merge, and what is given back is asked for again. So of merges that begin shortly after one another only
/// the first one does it; a large merge takes longer than the interval.
final class MergePace: Sendable {
    private let interval: Duration
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter interval: The least time between two times, default two seconds.
    init(interval: Duration = .seconds(2)) { self.interval = interval }

    /// Whether it is time; then the interval begins.
    func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
        last.withLock { last in
            if let last, now - last < interval { return false }
            last = now
            return true
        }
    }
}
