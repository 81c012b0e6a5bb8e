import Synchronization
import TestSupport
import Testing

@testable import Transfer

@Suite(.timeLimit(.minutes(15)))
struct BudgetedClientTests {
    private func client(_ budget: OriginBudget) throws -> TransferClient {
        var options = TransferOptions()
        options.budget = budget
        options.retry.base = .milliseconds(5)
        options.retry.cap = .milliseconds(20)
        return try TransferClient(options)
    }

    private func grant(_ concurrency: Int, lasts: Duration = .seconds(600)) -> OriginBudget.Grant {
        OriginBudget.Grant(perSecond: 0, burst: 0, concurrency: concurrency, until: .now + lasts)
    }

    @Test func requestsWaitForTheFirstGrantAndStartWithIt() async throws {
        let server = try ScriptedServer { _ in .reply(204) }
        defer { server.stop() }
        let budget = OriginBudget()
        let client = try client(budget)
        async let answer = client.get("\(server.url)/a")
        try await Eventually.holds("the budget", every: .milliseconds(5)) { budget.waiting == 1 }
        #expect(server.requests.isEmpty)
        budget.apply(grant(1))
        #expect(try await answer.status == 204)
        #expect(budget.use.answered == 1)
    }

    /// The limit holds over all bodies, not within one: libcurl 7.88 lets megabytes of the first body pass.
    @Test(arguments: [(32, 16 << 10, 8), (12, 64 << 10, 8), (4, 256 << 10, 1)])
    func bytesPerSecondHoldForAllRequestsTogether(count: Int, size: Int, concurrency: Int) async throws {
        let body = [UInt8](repeating: 7, count: size)
        let server = try ScriptedServer { _ in .reply(200, body: body) }
        defer { server.stop() }
        let budget = OriginBudget()
        let client = try client(budget)
        let rate = 1_000_000.0
        var paced = grant(concurrency)
        paced.bytesPerSecond = rate
        budget.apply(paced)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask { try await client.get("\(server.url)/\(number)").body.count }
            }
            for try await length in group { #expect(length == size) }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        // Nothing holds the bodies back that are in flight before anything is counted.
        let free = Double(concurrency * size)
        #expect(seconds >= (Double(count * size) - free) / rate, "\(seconds) s")
    }

    /// Two origins, each with a client and a budget of its own.
    @Test func aLimitOfTheProcessHoldsForAllOriginsTogether() async throws {
        let (rate, count, size) = (1_000_000, 16, 64 << 10)
        let body = [UInt8](repeating: 7, count: size)
        let limit = ReceiveLimit(bytesPerSecond: UInt64(rate))
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                let server = try ScriptedServer { _ in .reply(200, body: body) }
                let budget = OriginBudget(limit: limit)
                let client = try client(budget)
                budget.apply(grant(2))
                group.addTask {
                    defer { server.stop() }
                    return try await withThrowingTaskGroup(of: Int.self) { requests in
                        for number in 0..<count {
                            requests.addTask { try await client.get("\(server.url)/\(number)").body.count }
                        }
                        return try await requests.reduce(0, +)
                    }
                }
            }
            for try await length in group { #expect(length == count * size) }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        // What is in flight before anything is counted passes freely: two bodies of each origin.
        #expect(seconds >= Double((2 * count - 4) * size) / Double(rate), "\(seconds) s")
    }

    @Test func whatIsInFlightIsBrokenOffWhenTheGrantEnds() async throws {
        let server = try ScriptedServer { $0.earlier == 0 ? .silence : .reply(204) }
        defer { server.stop() }
        let budget = OriginBudget()
        let client = try client(budget)
        budget.apply(grant(1, lasts: .milliseconds(300)))
        async let answer = client.get("\(server.url)/a")
        try await Eventually.holds("the budget", every: .milliseconds(5)) { budget.waiting == 1 }
        #expect(budget.isWithinGrant == true)
        budget.apply(grant(1))
        let response = try await answer
        #expect(response.status == 204 && response.attempts == 1)
    }

    /// A 503 among answers is a refusal when many tiles get one, and the fault of the tile when it alone does.
    @Test func a503AmongAnswersIsARefusalWhenItIsOneOfMany() {
        func attempts(answered: Int, busy: Int) -> Int {
            let budget = OriginBudget()
            var idle = IdleAttempts()
            idle.begin(budget.use)
            for _ in 0..<100 {
                for _ in 0..<answered { budget.endRequest(.answered) }
                for _ in 0..<busy { budget.endRequest(.busy) }
                if !idle.takes(.busy, hadAnswer: true, budget.use) { break }
            }
            return idle.count
        }
        #expect(attempts(answered: 20, busy: 20) == IdleAttempts.maxBusy)
        #expect(attempts(answered: 200, busy: 1) == 0)
        #expect(attempts(answered: 200, busy: 4) == 0)
        #expect(attempts(answered: 0, busy: 1) == IdleAttempts.maxAlone)
    }

    /// How many attempts of one request do not count while `others` more requests fail each time, at most 50.
    private func idleAttempts(_ reception: OriginBudget.Reception, others: Int, hadAnswer: Bool = true) -> Int {
        let budget = OriginBudget()
        var idle = IdleAttempts()
        idle.begin(budget.use)
        for _ in 0..<50 {
            for _ in 0...others { budget.endRequest(reception) }
            if !idle.takes(reception, hadAnswer: hadAnswer, budget.use) { break }
        }
        return idle.count
    }

    @Test func throttlingOfEverybodyCostsNoAttempt() {
        #expect(idleAttempts(.throttled(retryAfter: nil), others: 1) == 50)
        #expect(idleAttempts(.throttled(retryAfter: nil), others: 0) == IdleAttempts.maxAlone)
    }

    @Test func anOutageCostsNoAttemptButIsBounded() {
        #expect(idleAttempts(.failed, others: 1) == IdleAttempts.maxIdle)
        #expect(idleAttempts(.failed, others: 0) == IdleAttempts.maxAlone)
        #expect(idleAttempts(.failed, others: 0, hadAnswer: false) == 50)
    }

    @Test func aTileThatAloneFailsEndsSoon() async throws {
        let budget = OriginBudget()
        budget.apply(grant(4))
        let server = try ScriptedServer { .reply($0.path == "/ill" ? 502 : $0.path == "/told" ? 429 : 204) }
        defer { server.stop() }
        let client = try client(budget)
        #expect(try await client.get("\(server.url)/well").status == 204)
        for (path, status) in [("/ill", 502), ("/told", 429)] {
            let answer = try await client.get("\(server.url)\(path)")
            #expect(answer.status == status && answer.attempts == 5)
            #expect(server.requests.count { $0.path == path } == IdleAttempts.maxAlone + 5)
        }
    }

    /// Every worker may be left with such tiles alone: they must neither look like an origin that is down, nor take
    /// forever.
    @Test func aTileThatFailsWhileOthersAreAnsweredIsAtFaultItself() {
        let budget = OriginBudget()
        var idle = IdleAttempts()
        idle.begin(budget.use)
        for _ in 0..<IdleAttempts.ownFaults {
            budget.endRequest(.answered)
            budget.endRequest(.failed)
            let isIdle = idle.takes(.failed, hadAnswer: true, budget.use)
            #expect(!isIdle)
        }
        // No request is answered any more: an outage would be excused; this is not an outage and is not excused.
        budget.endRequest(.failed)
        guard case .none = idle.evidence(of: .failed, hadAnswer: true) else {
            _ = Issue.record("it blames the origin")
            return
        }
        let isIdle = idle.takes(.failed, hadAnswer: true, budget.use)
        #expect(!isIdle)
        // A missing server is never a failure of a single tile.
        guard case .failed = idle.evidence(of: .failed, hadAnswer: false) else {
            _ = Issue.record("it excuses the origin")
            return
        }
        let isOutage = idle.takes(.failed, hadAnswer: false, budget.use)
        #expect(isOutage)
    }

    @Test func whatFailedInAnEarlierAttemptIsNoSignOfAnOutage() async throws {
        let server = try ScriptedServer { _ in .reply(500) }
        defer { server.stop() }
        let budget = OriginBudget()
        budget.apply(grant(4))
        let client = try client(budget)
        var request = TransferRequest(tag: 0, url: "\(server.url)/ill")
        request.hasFailedBefore = true
        let answer = try await client.send(request)
        #expect(answer.status == 500 && answer.attempts == 5)
        #expect(server.requests.count == 5 && budget.use.requests == 5 && budget.use.failed == 0)
    }

    @Test func afterAFailureSomethingNewIsTriedFirst() throws {
        let client = try TransferClient()
        defer { client.close() }
        let now = ContinuousClock.now
        let jobs = ["new", "failed"].map { path in
            TransferJob(
                TransferRequest(tag: 0, url: "http://127.0.0.1:9/\(path)"), download: client.download(), at: now)
        }
        for (isNewFirst, order) in [(true, ["new", "failed"]), (false, ["failed", "new"])] {
            var queue = TransferQueue()
            queue.append([jobs[0]])
            queue.append(jobs[1], due: now)
            let taken = (0..<3).map { _ in queue.pop(at: now, newFirst: isNewFirst)?.url.split(separator: "/").last }
            #expect(taken.compactMap { $0.map(String.init) } == order)
        }
    }

    @Test func aServerThatIsNotThereIsWaitedFor() async throws {
        // A port that was given back could be another test's by now, and answer.
        let server = try ScriptedServer(isOpen: false) { _ in .reply(204) }
        defer { server.stop() }
        let budget = OriginBudget()
        budget.apply(grant(4))
        let client = try client(budget)
        async let answer = client.get("\(server.url)/a")
        try await Eventually.holds("the budget", every: .milliseconds(5)) { budget.use.failed >= 30 }
        try server.open()
        let response = try await answer
        #expect(response.status == 204 && response.attempts == 1)
    }
}
