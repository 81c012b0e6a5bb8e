/// Limits how many look-ups of newest builds run at the same time: many schedules can be due at one instant.
actor LookupSlots {
    /// Those of this process.
    static let shared = LookupSlots(8)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    /// Runs `body` when a slot is free, in the order of the calls.
    nonisolated func run<Value: Sendable>(_ body: @Sendable () async -> Value) async -> Value {
        await take()
        let value = await body()
        await give()
        return value
    }

    private func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func give() {
        // The slot passes to the one who waits longest.
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
