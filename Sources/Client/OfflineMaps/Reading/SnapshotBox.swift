internal import Synchronization

/// A reference that many threads read while one thread replaces it; reading never waits.
///
/// A reader counts itself, loads the reference, retains it, and is counted off. A writer puts the new reference in place
/// and then waits until no reader is between these steps; then no reader can retain the old object any more.
// `Unmanaged` is used because an atomic cannot hold a strong reference; the box owns one reference to its object.
final class SnapshotBox<Object: AnyObject & Sendable>: Sendable {
    private let current: Atomic<Unmanaged<Object>>
    private let entering = Atomic<Int>(0)
    private let writers = Mutex(())

    init(_ object: Object) { current = Atomic(Unmanaged.passRetained(object)) }

    deinit { current.load(ordering: .acquiring).release() }

    /// The object of this moment.
    func load() -> Object {
        entering.wrappingAdd(1, ordering: .sequentiallyConsistent)
        let object = current.load(ordering: .sequentiallyConsistent).retain()
        entering.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        return object.takeRetainedValue()
    }

    /// Replaces the object; returns when no reader can get the old one any more.
    func replace(_ object: Object) {
        writers.withLock { _ in
            let old = current.exchange(Unmanaged.passRetained(object), ordering: .sequentiallyConsistent)
            while entering.load(ordering: .sequentiallyConsistent) != 0 { Pause.short() }
            old.release()
        }
    }
}
