import Scheduling
import Synchronization

/// Keeps the naming of a blob and its removal apart.
///
/// Equal bytes are one blob: a job may name a shard or a manifest while the same one of an ended job is being removed. Only the rows of the
/// state file say whether a blob is needed. So whatever is claimed here is left, and its removal asks the rows again when the claim has
/// ended; one that is being removed at this moment is waited for, and is then seen to be missing.
final class Removals: Sendable {
    /// The blobs that one look at the rows found to be needed no more.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }
    fileprivate struct List {
        var doomed: [ContentDigest]
        /// What somebody claimed meanwhile, and may have named.
        var claimed: Set<ContentDigest> = []
    }
    fileprivate struct State {
        var lists: [Ticket: List] = [:]
        var claims: [ContentDigest: Int] = [:]
        var current: ContentDigest?
        var waiters: [CheckedContinuation<Void, Never>] = []
        var tickets: UInt64 = 0
    }
    private let state = Mutex(State())

    /// Takes up a list of blobs to be removed one by one with ``next(of:)``.
    func doom(_ digests: [ContentDigest]) -> Ticket {
        state.withLock { state in
            state.tickets += 1
            let ticket = Ticket(number: state.tickets)
            state.lists[ticket] = List(doomed: digests)
            return ticket
        }
    }

    /// The next blob of a list to be removed, by the next call or ``ended(_:)``; `nil` at the end.
    func next(of ticket: Ticket) -> ContentDigest? {
        let (next, waiters) = state.withLock { state in
            let waiters = state.end()
            let rest = state.lists[ticket]?.doomed ?? []
            let place = rest.lastIndex { state.claims[$0] == nil }
            if let place { state.current = state.lists[ticket]?.doomed.remove(at: place) }
            return (state.current, waiters)
        }
        for waiter in waiters { waiter.resume() }
        return next
    }

    /// Ends the removal of a list.
    ///
    /// - Returns: What was left because of a claim. The rows have to be asked about it again when ``isClaimed(_:)`` says no.
    @discardableResult
    func ended(_ ticket: Ticket) -> Set<ContentDigest> {
        let (left, waiters) = state.withLock { state in
            let list = state.lists.removeValue(forKey: ticket)
            return (list.map { $0.claimed.union($0.doomed) } ?? [], state.end())
        }
        for waiter in waiters { waiter.resume() }
        return left
    }

    /// Whether one of these blobs is claimed.
    func isClaimed(_ digests: Set<ContentDigest>) -> Bool {
        state.withLock { state in digests.contains { state.claims[$0] != nil } }
    }

    /// From here until ``settle(_:mayBeNamed:)`` nothing removes this blob.
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
    /// - Parameter mayBeNamed: Whether a row may name the blob from now on. No list made before removes it then.
    func settle(_ digest: ContentDigest, mayBeNamed: Bool) {
        state.withLock { state in
            let left = (state.claims[digest] ?? 1) - 1
            state.claims[digest] = left > 0 ? left : nil
            guard mayBeNamed else { return }
            for (ticket, list) in state.lists where list.doomed.contains(digest) {
                state.lists[ticket]?.doomed.removeAll { $0 == digest }
                state.lists[ticket]?.claimed.insert(digest)
            }
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
