import NIOCore
import Synchronization
import Testing
import Wire

@testable import Gateway

/// One question for the streams of all clients.
@Suite(.timeLimit(.minutes(15))) struct EventFeedTests {
    /// A log as the coordinator has it, and how often it was asked.
    private final class Log: Sendable {
        struct State {
            var first: UInt64 = 1
            var last: UInt64 = 0
            var questions = 0
            var isAway = false
        }
        let state = Mutex(State())

        func add(_ count: UInt64) { state.withLock { $0.last += count } }

        func ask(_ after: UInt64) async throws(Problem) -> PBEvents {
            state.withLock { $0.questions += 1 }
            for _ in 0..<20 where state.withLock({ $0.last <= after && !$0.isAway }) {
                // A cancelled sleep ends the wait.
                try? await Task.sleep(for: .milliseconds(5))
            }
            let state = state.withLock { $0 }
            guard !state.isAway else { throw Problem(.coordinatorAway, "away") }
            var answer = PBEvents()
            (answer.first, answer.last) = (state.first, state.last)
            let begin = max(after + 1, state.first)
            guard begin <= state.last else { return answer }
            answer.events = (begin...min(state.last, begin + UInt64(EventFeed.limit) - 1)).map { seq in
                var event = PBEventRecord()
                event.seq = seq
                event.kind = "job-done"
                return event
            }
            return answer
        }
    }

    private static func running(_ body: @Sendable @escaping (EventFeed, Log) async throws -> Void) async throws {
        let log = Log()
        let feed = EventFeed(texts: EventTexts()) { (after) throws(Problem) in try await log.ask(after) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await feed.run() }
            group.addTask { try await body(feed, log) }
            _ = try await group.next()
            group.cancelAll()
        }
    }

    private static func numbers(_ piece: EventPiece?) -> [UInt64]? {
        piece.map {
            String(buffer: $0.text).split(separator: "\n").compactMap {
                $0.hasPrefix("id: ") ? UInt64($0.dropFirst(4)) : nil
            }
        }
    }

    @Test func allStreamsGetAnEventWithOneQuestion() async throws {
        try await Self.running { feed, log in
            log.add(10)
            try await withThrowingTaskGroup(of: [UInt64]?.self) { group in
                for _ in 0..<50 { group.addTask { Self.numbers(try await feed.next(after: 10)) } }
                while await feed.waiterCount < 50 { await Task.yield() }
                log.add(2)
                for try await found in group { #expect(found == [11, 12]) }
            }
            #expect(log.state.withLock { $0.questions } <= 2)
            // Kept for a stream that was a little slower.
            async let waits = feed.next(after: 12)
            while await feed.waiterCount < 1 { await Task.yield() }
            log.add(1)
            let piece1 = try await waits
            #expect(Self.numbers(piece1) == [13])
        }
    }

    /// Streams of all speeds get each event once and in order, while events come and the oldest are no longer kept.
    @Test func noEventIsLostOrSentTwice() async throws {
        try await Self.running { feed, log in
            let last: UInt64 = 6_000
            try await withThrowingTaskGroup(of: Void.self) { group in
                for stream in 0..<20 {
                    group.addTask {
                        var after: UInt64 = 0
                        while after < last {
                            // Beyond the time limit nothing is added any more.
                            try Task.checkCancellation()
                            var found = Self.numbers(try await feed.next(after: after))
                            if found == nil { found = try await log.ask(after).events.map(\.seq) }
                            let numbers = try #require(found)
                            #expect(numbers == numbers.indices.map { after + 1 + UInt64($0) })
                            after += UInt64(numbers.count)
                            if stream.isMultiple(of: 4) { try await Task.sleep(for: .milliseconds(30 * stream)) }
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<100 {
                        log.add(last / 100)
                        try await Task.sleep(for: .milliseconds(5))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func aProblemReachesAllStreamsAndTheNextQuestionIsAskedAgain() async throws {
        try await Self.running { feed, log in
            log.state.withLock { $0.isAway = true }
            await #expect(throws: Problem.self) { _ = try await feed.next(after: 5) }
            log.state.withLock { ($0.isAway, $0.last) = (false, 6) }
            let piece2 = try await feed.next(after: 5)
            #expect(Self.numbers(piece2) == [6])
        }
    }

    /// After a backup was restored, the log is shorter and its numbers are given again.
    @Test func aShorterLogIsTakenAsItIs() async throws {
        try await Self.running { feed, log in
            log.add(100)
            let piece3 = try await feed.next(after: 99)
            #expect(Self.numbers(piece3) == [100])
            log.state.withLock { $0.last = 40 }
            let piece4 = try await feed.next(after: 100)
            #expect(Self.numbers(piece4) == [])
            log.add(1)
            let piece5 = try await feed.next(after: 40)
            #expect(Self.numbers(piece5) == [41])
        }
    }

    @Test func removedEventsSendAStreamToTheCoordinator() async throws {
        try await Self.running { feed, log in
            log.add(10)
            let piece6 = try await feed.next(after: 9)
            #expect(Self.numbers(piece6) == [10])
            log.state.withLock { ($0.first, $0.last) = (500, 510) }
            let none = try await feed.next(after: 10)
            #expect(none == nil)
        }
    }

    @Test func theEndOfTheGatewayEndsTheWait() async throws {
        let feed = EventFeed(texts: EventTexts()) { (after) throws(Problem) in try await Log().ask(after) }
        let run = Task { await feed.run() }
        async let waits = feed.next(after: 3)
        while await feed.waiterCount < 1 { await Task.yield() }
        run.cancel()
        await run.value
        let piece = try await waits
        #expect(piece == nil || piece?.text.readableBytes == 0)
        let none = try await feed.next(after: 3)
        #expect(none == nil)
    }
}
