import Errors
import Synchronization

/// Watches the answers of a server until the first good one: a server that refuses everything is not asked a thousand
/// times.
///
/// The server of a wrong address, or with a wrong key, answers every request with 403, 401, 418 or a page for people. One
/// good answer, also "there is no such tile", shows that address and key are right; refusals then are of single tiles.
final class FirstAnswers: Sendable {
    /// What an answer says about the server.
    enum Evidence: Sendable, Hashable {
        /// The server gave a tile, or said that the tile does not exist.
        case good
        /// A final refusal, in words: `403 (text/html)`.
        case refusal(String)
        /// Nothing: a later answer may be another.
        case none
    }

    /// The number of refusals without a good answer that ends a fetch.
    static let limit = 24
    /// Requests under way at most until then for one fetch, so that it ends after at most 32.
    static let window = 8
    /// How long the refusals are remembered: other batches of the job end without a request.
    private static let memory = Duration.seconds(5)

    private struct State {
        var isProven = false
        var refusals: [String: Int] = [:]
        var count = 0
        /// The statuses 400...499 among them.
        var statuses: Set<Int> = []
        /// When the limit was reached.
        var refusedAt: ContinuousClock.Instant?
    }
    private let state = Mutex(State())

    /// Whether the server has given a good answer.
    var isProven: Bool { state.withLock(\.isProven) }

    /// Counts refusals no longer: tiles were found before.
    func trust() { state.withLock { $0.isProven = true } }

    /// Ends a fetch before its first request, if the server has just refused everything.
    ///
    /// - Throws: ``OriginsError`` `all-refused`.
    func check() throws(OriginsError) { try add([]) }

    /// Counts answers.
    ///
    /// - Throws: ``OriginsError`` `all-refused` that says what was answered.
    func add(_ answers: [(evidence: Evidence, status: Int?)]) throws(OriginsError) {
        let message: String? = state.withLock { state in
            guard !state.isProven else { return nil }
            // A later job may find the server repaired; other batches of the same job end at once.
            if let since = state.refusedAt, .now - since > Self.memory { state = State() }
            for (evidence, status) in answers {
                switch evidence {
                case .good:
                    state = State(isProven: true)
                    return nil
                case .refusal(let words):
                    state.refusals[words, default: 0] += 1
                    state.count += 1
                    if let status, 400...499 ~= status { state.statuses.insert(status) }
                case .none: break
                }
            }
            guard state.count >= Self.limit else { return nil }
            state.refusedAt = state.refusedAt ?? .now
            return Self.message(state)
        }
        if let message { throw OriginsError(.allRefused, message) }
    }

    private static func message(_ state: State) -> String {
        let most = state.refusals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var list = most.prefix(3).map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
        if most.count > 3 { list += " and others" }
        let statuses = state.statuses.subtracting([401, 407, 408, 425, 429]).sorted()
        let key =
            statuses.isEmpty
            ? ""
            : ", or add empty_statuses: [\(statuses.map { "\($0)" }.joined(separator: ", "))] if these say 'no such tile'"
        return "the server refused all of the first \(state.count) requests: \(list); check url, key and format\(key)"
    }
}
