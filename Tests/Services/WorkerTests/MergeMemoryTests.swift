import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(15)))
struct MergeMemoryTests {
    @Test func mergesRunInTheirOrderWhileThereIsMemory() {
        var queue = MergeQueue(limit: 100)
        let tickets = [40, 60, 10, 500, 1].map { queue.ticket(for: $0) }
        func running() -> [Bool] { tickets.map { queue.begins($0) } }
        // The third one would not fit, so the small one behind it waits too.
        #expect(running() == [true, true, false, false, false])
        #expect(running() == [true, true, false, false, false])
        queue.end(tickets[0])
        #expect(running() == [false, true, true, false, false])
        // One that waited goes away, as one that ended does.
        queue.end(tickets[1])
        queue.end(tickets[2])
        // More than the limit: alone.
        #expect(running() == [false, false, false, true, false])
        queue.end(tickets[3])
        #expect(running() == [false, false, false, false, true])
        queue.end(tickets[4])
        #expect(running() == [false, false, false, false, false])
    }

    @Test func aWaitingMergeCountsStepsAndEndsWhenItIsCancelled() async throws {
        let memory = MergeMemory(bytes: 10)
        let meter = WorkMeter()
        try await memory.with(10, meter) {
            let waiting = Task { try await memory.with(1, meter) {} }
            while meter.counters.bytes == 0 { await Task.yield() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            try await memory.with(0, meter) {}
        }
        try await memory.with(10, meter) {}
    }
}
