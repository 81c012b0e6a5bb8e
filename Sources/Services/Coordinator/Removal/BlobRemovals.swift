import Digests
import Scheduling
import Synchronization

/// Prevents that a blob is removed while another job starts to use it.
///
/// Equal bytes are one blob: a job may use a shard or a manifest while the same blob of an ended job is being removed.
/// Only the rows of the state file say whether a blob is needed. So a claimed blob is not removed, and its removal is
/// checked against the rows again when the claim has ended. If the blob is being removed at this moment, the claim
/// waits for that, and the blob is then found missing.
final class BlobRemovals: Sendable {
    /// A list of blobs that are not needed according to one read of the rows.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }
    fileprivate struct List {
        var unneeded: [Digest] = []
        /// Blobs that a row may name since the list was opened; `nil` when the list is complete.
        var named: Set<Digest>?
        /// Blobs that were claimed meanwhile, and may be in use now.
        var claimed: Set<Digest> = []
    }
    fileprivate struct State {
        var lists: [Ticket: List] = [:]
        var claims: [Digest: Int] = [:]
        var current: Digest?
        var waiters: [CheckedContinuation<Void, Never>] = []
        var tickets: UInt64 = 0
    }
    private let state = Mutex(State())

    /// Opens a list before the rows are read that say which blobs are not needed.
    ///
    /// Blobs whose claim ends meanwhile are not removed: the rows that were read may lack their names.
    func open() -> Ticket {
        state.withLock { state in
            state.tickets += 1
            let ticket = Ticket(number: state.tickets)
            state.lists[ticket] = List(named: [])
            return ticket
        }
    }

    /// Gives an open list its blobs.
    ///
    /// They are removed one by one with ``next(of:)``.
    func fill(_ ticket: Ticket, _ digests: [Digest]) {
        state.withLock { state in
            guard let named = state.lists[ticket]?.named else { return }
            state.lists[ticket]?.unneeded = digests.filter { !named.contains($0) }
            state.lists[ticket]?.claimed.formUnion(named.intersection(digests))
            state.lists[ticket]?.named = nil
        }
    }

    /// Opens a list and gives it its blobs.
    func start(_ digests: [Digest]) -> Ticket {
        let ticket = open()
        fill(ticket, digests)
        return ticket
    }

    /// The next blob of a list.
    ///
    /// It must be removed before the next call or ``end(_:)``. `nil` at the end.
    func next(of ticket: Ticket) -> Digest? {
        let (next, waiters) = state.withLock { state in
            let waiters = state.end()
            let rest = state.lists[ticket]?.unneeded ?? []
            let place = rest.lastIndex { state.claims[$0] == nil }
            if let place { state.current = state.lists[ticket]?.unneeded.remove(at: place) }
            return (state.current, waiters)
        }
        for waiter in waiters { waiter.resume() }
        return next
    }

    /// Ends the removal of a list.
    ///
    /// - Returns: The blobs that were left because of a claim. They must be checked against the rows again when
    ///   ``isClaimed(_:)`` returns false.
    @discardableResult
    func end(_ ticket: Ticket) -> Set<Digest> {
        let (left, waiters) = state.withLock { state in
            let list = state.lists.removeValue(forKey: ticket)
            return (list.map { $0.claimed.union($0.unneeded) } ?? [], state.end())
        }
        for waiter in waiters { waiter.resume() }
        return left
    }

    /// Whether one of these blobs is claimed.
    func isClaimed(_ digests: Set<Digest>) -> Bool {
        state.withLock { state in digests.contains { state.claims[$0] != nil } }
    }

    /// Prevents the removal of this blob until ``endClaim(of:mayBeNamed:)``.
    func claim(_ digest: Digest) { state.withLock { $0.claims[digest, default: 0] += 1 } }

    /// Returns when the blob is not being removed at this moment.
    func waitUntilFree(_ digest: Digest) async {
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
    /// - Parameter mayBeNamed: Whether a row may name the blob from now on. Then lists that were made before do not
    ///   remove it.
    func endClaim(of digest: Digest, mayBeNamed: Bool) {
        state.withLock { state in
            let left = (state.claims[digest] ?? 1) - 1
            state.claims[digest] = left > 0 ? left : nil
            guard mayBeNamed else { return }
            for ticket in state.lists.keys { state.lists[ticket]?.named?.insert(digest) }
            for (ticket, list) in state.lists where list.unneeded.contains(digest) {
                state.lists[ticket]?.unneeded.removeAll { $0 == digest }
                state.lists[ticket]?.claimed.insert(digest)
            }
        }
    }
}

extension BlobRemovals.State {
    /// Ends the current removal.
    ///
    /// The returned continuations of the waiters must be resumed.
    fileprivate mutating func end() -> [CheckedContinuation<Void, Never>] {
        defer { (current, waiters) = (nil, []) }
        return waiters
    }
}
