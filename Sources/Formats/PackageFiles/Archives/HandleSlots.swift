package import Errors
internal import Synchronization

/// The open handles of one file: a thread borrows one, and no two threads have the same.
///
/// Borrowing is one atomic exchange; no thread waits for another. There are as many handles as threads read the file
/// at the same moment.
package final class HandleSlots<Handle: AnyObject>: IdleHandles {
    /// How many handles stay open between two calls.
    private static var count: Int { 4 }
    /// A thread has the handle of the slot.
    private static var busy: UInt { 1 }
    /// The slot has no handle.
    private static var none: UInt { 0 }

    // Each is `none`, `busy`, or the address of a retained handle.
    private let first = Atomic<UInt>(0)
    private let second = Atomic<UInt>(0)
    private let third = Atomic<UInt>(0)
    private let fourth = Atomic<UInt>(0)
    /// When the file was last read, by the budget's clock.
    private let stamp = Atomic<UInt64>(0)
    private let open: @Sendable () throws(ArchiveError) -> Handle
    private let budget: HandleBudget

    /// - Parameter open: Opens one more handle of the file.
    package init(budget: HandleBudget, open: @escaping @Sendable () throws(ArchiveError) -> Handle) {
        self.open = open
        self.budget = budget
    }

    deinit { closeIdle() }

    /// When the file was last read.
    package var lastUse: UInt64 { stamp.load(ordering: .relaxed) }

    /// Runs `body` with a handle that no other thread has.
    ///
    /// - Throws: ``ArchiveError``, also for a file that cannot be opened.
    package func lend<Result>(_ body: (Handle) throws(ArchiveError) -> Result) throws(ArchiveError) -> Result {
        stamp.store(budget.tick(), ordering: .relaxed)
        for number in 0..<Self.count {
            let old = exchange(number, Self.busy)
            if old == Self.busy { continue }
            let handle: Handle
            if let address = UnsafeRawPointer(bitPattern: old) {
                handle = Unmanaged<Handle>.fromOpaque(address).takeRetainedValue()
            } else {
                do throws(ArchiveError) { handle = try open() } catch {
                    _ = exchange(number, Self.none)
                    throw error
                }
                budget.opened(self)
            }
            defer { _ = exchange(number, UInt(bitPattern: Unmanaged.passRetained(handle).toOpaque())) }
            return try body(handle)
        }
        // More threads than slots: a handle for this call alone.
        return try body(try open())
    }

    /// Whether a handle is open, or being opened.
    package var isOpen: Bool {
        [
            first.load(ordering: .relaxed), second.load(ordering: .relaxed), third.load(ordering: .relaxed),
            fourth.load(ordering: .relaxed),
        ].contains { $0 != Self.none }
    }

    /// Closes the handles that no thread has at this moment.
    ///
    /// - Returns: Whether none is left.
    @discardableResult
    package func closeIdle() -> Bool {
        var isEmpty = true
        for number in 0..<Self.count {
            let old = exchange(number, Self.busy)
            if old == Self.busy {
                isEmpty = false
                continue
            }
            if let address = UnsafeRawPointer(bitPattern: old) {
                Unmanaged<Handle>.fromOpaque(address).release()
                budget.closed()
            }
            _ = exchange(number, Self.none)
        }
        return isEmpty
    }

    private func exchange(_ number: Int, _ word: UInt) -> UInt {
        switch number {
        case 0: first.exchange(word, ordering: .acquiringAndReleasing)
        case 1: second.exchange(word, ordering: .acquiringAndReleasing)
        case 2: third.exchange(word, ordering: .acquiringAndReleasing)
        default: fourth.exchange(word, ordering: .acquiringAndReleasing)
        }
    }
}
