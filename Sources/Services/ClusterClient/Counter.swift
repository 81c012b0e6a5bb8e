import Synchronization

/// Numbers from 1 on, each returned once.
package final class Counter: Sendable {
    private let value = Atomic<UInt64>(0)

    package func next() -> UInt64 {
        value.add(1, ordering: .relaxed).newValue
    }
}
