internal import ClusterClient
internal import Errors
internal import Foundation
internal import Synchronization
internal import ZeroMQ

/// Questions to the coordinator; equal ones are asked at most once a second, however many clients ask.
final class ClusterLink: Sendable {
    /// For how long an answer is given again.
    private static let freshness = Duration.seconds(1)
    /// The most answers that are kept.
    private static let maxAnswers = 256

    private struct Kept: Sendable {
        let task: Task<any Sendable, any Error>
        let since: ContinuousClock.Instant
    }

    private let client: ControlClient
    private let metrics: GatewayMetrics
    private let kept = Mutex<[String: Kept]>([:])
    private let hasAnswered = Mutex<Bool?>(nil)

    init(_ client: ControlClient, metrics: GatewayMetrics) {
        self.client = client
        self.metrics = metrics
    }

    /// A client for the link.
    ///
    /// - Throws: ``GatewayError`` `bad-configuration` for an endpoint that cannot be used.
    static func client(_ access: ClusterAccess) throws(GatewayError) -> ControlClient {
        do {
            return try ControlClient(
                endpoints: access.endpoints, security: access.security, allowPlain: access.allowPlain,
                timeout: access.patience)
        } catch {
            let message = (error as? any CodedError)?.message ?? "\(error)"
            let addresses = access.endpoints.joined(separator: "' or '")
            throw GatewayError(
                .badConfiguration, "No link to a coordinator at '\(addresses)' can be made: \(message)",
                cause: error)
        }
    }

    /// Whether the coordinator answered the last question; `nil` before the first one.
    var isAnswering: Bool? { hasAnswered.withLock { $0 } }

    func close() async { await client.close() }

    /// Asks the coordinator.
    ///
    /// - Throws: ``Problem`` `coordinator-away`, or what the coordinator says.
    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (ControlClient) async throws -> Value
    ) async throws(Problem) -> Value {
        let start = ContinuousClock.now
        let result: Result<Value, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        switch result {
        case .success(let value):
            hasAnswered.withLock { $0 = true }
            metrics.question("answered", seconds: seconds)
            return value
        case .failure(let error):
            let problem = Self.problem(error)
            hasAnswered.withLock { $0 = problem.code != .coordinatorAway }
            metrics.question(problem.code == .coordinatorAway ? "silent" : "problem", seconds: seconds)
            throw problem
        }
    }

    /// Asks a question that changes nothing, or gives an answer that is at most a second old.
    ///
    /// - Parameter key: Equal for equal questions.
    func read<Value: Sendable>(
        _ key: String, _ body: @escaping @Sendable (ControlClient) async throws -> Value
    ) async throws(Problem) -> Value {
        let now = ContinuousClock.now
        let task = kept.withLock { kept -> Task<any Sendable, any Error> in
            if let known = kept[key], now - known.since < Self.freshness { return known.task }
            if kept.count >= Self.maxAnswers { kept = kept.filter { now - $0.value.since < Self.freshness } }
            if kept.count >= Self.maxAnswers { kept.removeAll() }
            let task = Task<any Sendable, any Error> { try await self.ask(body) }
            kept[key] = Kept(task: task, since: now)
            return task
        }
        let found: Result<any Sendable, any Error>
        do { found = .success(try await task.value) } catch { found = .failure(error) }
        switch found {
        case .success(let value):
            guard let value = value as? Value else { throw Problem(.internalError, "Two questions have the same key.") }
            return value
        case .failure(let error): throw error as? Problem ?? Self.problem(error)
        }
    }

    private static func problem(_ error: any Error) -> Problem {
        // The coordinator's list of keys does not have ours, or it is not there: nothing that a client could correct.
        if let link = error as? ZeroMQError, link.code != .tooLarge {
            return Problem(.coordinatorAway, link.message, retryAfter: 2)
        }
        guard let error = error as? ClusterError else {
            if let coded = error as? any CodedError { return Problem(.wrongRequest, coded.message) }
            return Problem(.coordinatorAway, "The coordinator cannot be asked: \(error)", retryAfter: 2)
        }
        let text = error.message
        return switch error.code {
        case .unreachable: Problem(.coordinatorAway, text, retryAfter: 2)
        case .unexpectedAnswer, .otherVersion, .wrongEndpoint: Problem(.otherVersion, text)
        case .unknown: Problem(.unknownThing, text)
        case .wrongRequest, .emptyArea, .duplicateArea, .outsideMap, .tooLarge: Problem(.wrongRequest, text)
        case .forbidden: Problem(.forbidden, text)
        case .later, .scheduleChanged: Problem(.tryLater, text, retryAfter: 5)
        case .refused, .exists: Problem(.refused, text)
        }
    }
}
