import Scheduling
import Synchronization

/// Keeps a commit and the removal of the same blob apart.
///
/// Equal bytes are one blob: a job may commit a shard just while an ended job's shard of that name is being removed. A digest that is claimed is
/// not removed; one that is being removed at this moment is waited for, and is then seen to be missing.
final class Removals: Sendable {
    fileprivate struct State {
        /// What is left to remove, per job.
        var doomed: [JobID: [ContentDigest]] = [:]
        var claims: [ContentDigest: Int] = [:]
        var current: ContentDigest?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    /// Dooms blobs; the removal takes them one by one with ``next(of:)``.
    func doom(_ digests: [ContentDigest], of job: JobID) { state.withLock { $0.doomed[job] = digests } }

    /// The next blob of a job to be removed, by the next call or ``ended(_:)``; `nil` at the end.
    func next(of job: JobID) -> ContentDigest? {
        let (next, waiters) = state.withLock { state in
            let waiters = state.end()
            let rest = state.doomed[job] ?? []
            let place = rest.lastIndex { state.claims[$0] == nil }
            if let place { state.current = state.doomed[job]?.remove(at: place) }
            return (state.current, waiters)
        }
        for waiter in waiters { waiter.resume() }
        return next
    }

    /// The removal of a job's blobs is over.
    ///
    /// - Returns: Whether some were left because they were claimed.
    func ended(_ job: JobID) -> Bool {
        let (isLeft, waiters) = state.withLock { state in
            (state.doomed.removeValue(forKey: job)?.isEmpty == false, state.end())
        }
        for waiter in waiters { waiter.resume() }
        return isLeft
    }

    /// From here until ``settle(_:isNamed:)`` nothing removes this blob.
    func claim(_ digest: ContentDigest) { state.withLock { $0.claims[digest, default: 0] += 1 } }

    /// Returns when the blob is not being removed at this moment.
    func pass(_ digest: ContentDigest) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.current == digest else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Ends a claim.
    ///
    /// - Parameter isNamed: Whether a job that has not ended names the blob from now on: what was doomed before must not touch it.
    func settle(_ digest: ContentDigest, isNamed: Bool) {
        state.withLock { state in
            let left = (state.claims[digest] ?? 1) - 1
            state.claims[digest] = left > 0 ? left : nil
            guard isNamed else { return }
            for job in state.doomed.keys { state.doomed[job]?.removeAll { $0 == digest } }
        }
    }
}

extension Removals.State {
    /// Ends the removal under way; whoever waited for it is to be resumed.
    fileprivate mutating func end() -> [CheckedContinuation<Void, Never>] {
        defer { (current, waiters) = (nil, []) }
        return waiters
    }
}
