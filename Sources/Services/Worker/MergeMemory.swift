internal import Foundation
internal import Synchronization

/// The memory that the large merges of a worker share: one that does not fit waits for the end of others.
///
/// A large merge keeps about three threads busy, so more of them than cores finish no earlier. First come, first served.
final class MergeMemory: Sendable {
    private let state: Mutex<MergeQueue>
    /// Time between two attempts of a merge that waits.
    private static let pause = Duration.milliseconds(10)

    /// - Parameter bytes: Of all large merges together, default 32 MiB for each core, at least 64 MiB.
    init(bytes: Int = (32 << 20) * max(2, ProcessInfo.processInfo.activeProcessorCount)) {
        state = Mutex(MergeQueue(limit: bytes))
    }

    /// Runs `body` when there is memory for it; a need of 0 never waits.
    ///
    /// - Throws: What `body` throws, and `CancellationError` while it waits.
    func with<Result>(_ bytes: Int, _ meter: WorkMeter, _ body: () async throws -> Result) async throws -> Result {
        guard bytes > 0 else { return try await body() }
        let ticket = state.withLock { $0.ticket(for: bytes) }
        defer { state.withLock { $0.end(ticket) } }
        while !state.withLock({ $0.begins(ticket) }) {
            // The lease is not stalled.
            meter.countStep()
            try await Task.sleep(for: Self.pause)
        }
        return try await body()
    }
}

/// Which large merges run, and which wait for memory.
struct MergeQueue: Sendable {
    private struct Place {
        let ticket: UInt64
        let bytes: Int
        var isRunning = false
    }

    private let limit: Int
    private var places: [Place] = []
    private var last: UInt64 = 0

    init(limit: Int) { self.limit = limit }

    /// Adds a merge behind all others.
    mutating func ticket(for bytes: Int) -> UInt64 {
        last += 1
        // A merge that needs more than the limit runs alone.
        places.append(Place(ticket: last, bytes: min(bytes, limit)))
        return last
    }

    /// Whether a merge runs now: it has memory, and none before it waits.
    mutating func begins(_ ticket: UInt64) -> Bool {
        guard let index = places.firstIndex(where: { $0.ticket == ticket }) else { return false }
        if places[index].isRunning { return true }
        guard places[..<index].allSatisfy(\.isRunning) else { return false }
        guard places[...index].reduce(0, { $0 + $1.bytes }) <= limit else { return false }
        places[index].isRunning = true
        return true
    }

    /// Removes a merge that ended or waits no more.
    mutating func end(_ ticket: UInt64) { places.removeAll { $0.ticket == ticket } }
}
