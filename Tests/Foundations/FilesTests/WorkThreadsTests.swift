import Dispatch
import Synchronization
import Testing

@testable import Files

/// Counts what runs at the same time.
private final class Gauge: Sendable {
    private let counts = Mutex((now: 0, most: 0))
    private let order = Mutex<[Int]>([])
    var most: Int { counts.withLock { $0.most } }
    var numbers: [Int] { order.withLock { $0 } }

    func work(_ number: Int, seconds: Double = 0.01) {
        counts.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
        }
        order.withLock { $0.append(number) }
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + seconds)
        counts.withLock { $0.now -= 1 }
    }
}

@Suite(.timeLimit(.minutes(15))) struct WorkThreadsTests {
    @Test func noMoreWorkRunsAtOnceThanThereAreThreads() async throws {
        let (threads, gauge) = (WorkThreads("test", count: 3), Gauge())
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<40 {
                group.addTask {
                    await threads.run {
                        gauge.work(number)
                        return number
                    }
                }
            }
            #expect(await group.reduce(0, +) == 780)
        }
        #expect(gauge.most == 3 && Set(gauge.numbers).count == 40)
    }

    @Test func workThatWaitsRunsInItsOrder() async throws {
        let (threads, gauge, begin) = (WorkThreads("test", count: 1), Gauge(), DispatchSemaphore(value: 0))
        threads.start { begin.wait() }
        let (ends, end) = AsyncStream<Void>.makeStream()
        for number in 0..<20 {
            threads.start {
                gauge.work(number, seconds: 0)
                if number == 19 { end.finish() }
            }
        }
        begin.signal()
        for await _ in ends {}
        #expect(gauge.numbers == Array(0..<20))
    }

    @Test func tasksRunWhileAllWorkBlocks() async throws {
        let threads = WorkThreads("test", count: 64)
        let end = DispatchSemaphore(value: 0)
        let blocked = (0..<64).map { _ in Task { await threads.run { end.wait() } } }
        // Each of these tasks needs one of the threads of tasks.
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<100 { group.addTask { number } }
            return await group.reduce(0, +)
        }
        #expect(sum == 4_950)
        for _ in blocked { end.signal() }
        for task in blocked { await task.value }
    }

    @Test func anErrorIsThrownToTheCaller() async throws {
        struct Wrong: Error {}
        let threads = WorkThreads("test", count: 1)
        await #expect(throws: Wrong.self) { try await threads.run { () throws(Wrong) in throw Wrong() } }
        #expect(await threads.run { 7 } == 7)
    }
}
