internal import Synchronization
internal import Tiles

/// The events that one subscriber has not read yet: at most 256.
///
/// When it is full, events of the same item are merged; when that is not enough, the oldest is left out.
final class EventQueue: Sendable {
    static let limit = 256

    private struct State {
        var events: [StoreEvent] = []
        var reader: CheckedContinuation<StoreEvent?, Never>?
        var isOver = false
    }
    private let state = Mutex(State())
    private let isWanted: @Sendable (StoreEvent) -> Bool

    init(_ isWanted: @escaping @Sendable (StoreEvent) -> Bool) { self.isWanted = isWanted }

    /// Adds an event, or gives it to the reader that waits.
    func add(_ event: StoreEvent) {
        guard isWanted(event) else { return }
        let reader = state.withLock { state -> CheckedContinuation<StoreEvent?, Never>? in
            guard !state.isOver else { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            if state.events.count >= Self.limit { state.events = StoreEvent.merged(state.events) }
            if state.events.count >= Self.limit { state.events.removeFirst() }
            state.events.append(event)
            return nil
        }
        reader?.resume(returning: event)
    }

    /// The next event; `nil` after the end, and when the reader is cancelled.
    ///
    /// One reader at a time.
    func next() async -> StoreEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isNow, event) = state.withLock { state -> (Bool, StoreEvent?) in
                    if !state.events.isEmpty { return (true, state.events.removeFirst()) }
                    if state.isOver || Task.isCancelled { return (true, nil) }
                    state.reader = continuation
                    return (false, nil)
                }
                if isNow { continuation.resume(returning: event) }
            }
        } onCancel: {
            release()
        }
    }

    /// No event follows.
    func end() {
        state.withLock { $0.isOver = true }
        release()
    }

    private func release() {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }
}

extension StoreEvent {
    /// What an event is about: of events with the same subject the last one counts.
    private enum Subject: Hashable {
        case list
        case task(TaskID)
        case regions
        case item(Item)
        case evicted
        case limit(Limit)
        case connection
    }

    private var subject: Subject {
        switch self {
        case .catalogUpdated, .catalogFailed: .list
        case .task(let task): .task(task.id)
        case .regions: .regions
        case .installed(let item, version: _, changed: _), .removed(let item), .damaged(let item): .item(item)
        case .evicted: .evicted
        case .limitReached(let limit): .limit(limit)
        case .connectionLost, .connectionFound: .connection
        }
    }

    /// One event for each subject, in the order of the last ones.
    static func merged(_ events: [StoreEvent]) -> [StoreEvent] {
        var last: [Subject: (place: Int, event: StoreEvent)] = [:]
        for (place, event) in events.enumerated() {
            last[event.subject] = (place, last[event.subject].map { event.joined(with: $0.event) } ?? event)
        }
        return last.values.sorted { $0.place < $1.place }.map(\.event)
    }

    /// This event, with what an earlier one of the same subject adds to it.
    private func joined(with earlier: StoreEvent) -> StoreEvent {
        switch (self, earlier) {
        case (.evicted(let new), .evicted(let old)): .evicted(bytes: new &+ old)
        case (
            .installed(let item, let version, changed: let new), .installed(_, version: _, changed: let old)
        ):
            // Without a mask all tiles have changed.
            .installed(item, version: version, changed: new.flatMap { new in old.map { new.union($0) } })
        default: self
        }
    }
}
