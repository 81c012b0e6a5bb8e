import Synchronization
import TestSupport
import Testing

@testable import Transfer

@Suite(.timeLimit(.minutes(2)))
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

    /// Waits for a condition that another thread brings about.
    private func until(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func requestsWaitForTheFirstGrantAndStartWithIt() async throws {
        let server = try ScriptedServer { _ in .reply(204) }
        defer { server.stop() }
        let budget = OriginBudget()
        let client = try client(budget)
        async let answer = client.get("\(server.url)/a")
        try await until { budget.waiting == 1 }
        #expect(server.requests.isEmpty)
        budget.apply(grant(1))
        #expect(try await answer.status == 204)
        #expect(budget.use.answered == 1)
    }

    @Test func whatIsInFlightIsBrokenOffWhenTheGrantEnds() async throws {
        let server = try ScriptedServer { $0.earlier == 0 ? .silence : .reply(204) }
        defer { server.stop() }
        let budget = OriginBudget()
        let client = try client(budget)
        budget.apply(grant(1, lasts: .milliseconds(300)))
        async let answer = client.get("\(server.url)/a")
        try await until { budget.waiting == 1 }
        #expect(budget.isWithinGrant == true)
        budget.apply(grant(1))
        let response = try await answer
        #expect(response.status == 204 && response.attempts == 1)
    }

    @Test func throttlingCostsNoAttempt() async throws {
        let server = try ScriptedServer { $0.earlier < 12 ? .reply(429) : .reply(204) }
        defer { server.stop() }
        let budget = OriginBudget()
        budget.apply(grant(4))
        let response = try await client(budget).get("\(server.url)/a")
        #expect(response.status == 204 && response.attempts == 1)
        #expect(budget.use.throttled == 12)
    }

    @Test func anOutageOfOneServerCostsNoAttemptButIsBounded() async throws {
        let budget = OriginBudget()
        budget.apply(grant(4))
        let server = try ScriptedServer { $0.path == "/ill" || $0.earlier < 8 ? .reply(502) : .reply(204) }
        defer { server.stop() }
        let client = try client(budget)
        #expect(try await client.get("\(server.url)/a").attempts == 1)
        let ill = try await client.get("\(server.url)/ill")
        #expect(ill.status == 502 && ill.attempts == 5)
        #expect(server.requests.count { $0.path == "/ill" } == TransferJob.mostIdleAttempts + 5)
    }

    @Test func aServerThatIsNotThereIsWaitedFor() async throws {
        let server = try ScriptedServer { _ in .silence }
        let port = server.port
        server.stop()
        let budget = OriginBudget()
        budget.apply(grant(4))
        let client = try client(budget)
        async let answer = client.get("http://127.0.0.1:\(port)/a")
        try await until { budget.use.failed >= 30 }
        let back = try ScriptedServer(port: port) { _ in .reply(204) }
        defer { back.stop() }
        let response = try await answer
        #expect(response.status == 204 && response.attempts == 1)
    }
}
