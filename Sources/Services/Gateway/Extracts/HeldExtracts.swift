/// Who waits for which extract, as a value: `handle(event, now) -> effects`.
///
/// A request ends exactly once: with the package, with a status while no byte was sent, or with a cut connection after
/// one was. CARTO's client takes the body of every 2xx as the package, so a request for a package that is being built is
/// held and gets the constant first bytes of the file one by one.
struct HeldExtracts: Sendable {
    typealias RequestID = UInt64
    /// The id of the package.
    typealias ExtractID = String

    enum Event: Sendable, Hashable {
        /// A request for a package that is not published.
        case asked(RequestID, ExtractID, RateBuckets.Client, isRanged: Bool)
        /// The client closed the connection.
        case left(RequestID)
        /// The coordinator has taken the job.
        case submitted(ExtractID, job: UInt64)
        /// The coordinator has refused the job, or did not answer.
        case notSubmitted(ExtractID, Refusal)
        /// The package is in the catalog.
        case published(ExtractID)
        /// The job ended without a package.
        case failed(ExtractID, reason: String)
        case tick
    }

    /// Why a request gets a status instead of a package.
    enum Refusal: Sendable, Hashable {
        /// Too many requests are held, or too many extracts are being built.
        case busy
        /// The package did not exist in time.
        case late
        case failed(String)
        /// The coordinator does not answer.
        case away
        /// The coordinator refuses: the code and its text.
        case refused(code: String, String)
    }

    enum Effect: Sendable, Hashable {
        case submit(ExtractID)
        /// Send the next byte; the first one is preceded by the head of a 200.
        case sendByte(RequestID)
        /// Send the package without the first bytes that were sent.
        case serve(RequestID, skipping: Int)
        case refuse(RequestID, Refusal)
        /// Close the connection, so that the client sees a broken transfer.
        case cut(RequestID)
    }

    private struct Held: Sendable {
        let extract: ExtractID
        let client: RateBuckets.Client
        let isRanged: Bool
        let since: Double
        var sent = 0
        /// When the last byte was sent, or the request came.
        var lastByte: Double
    }

    private enum Build: Sendable {
        case submitting
        case running(job: UInt64)
    }

    private let rules: ExtractRules
    private var held: [RequestID: Held] = [:]
    private var builds: [ExtractID: Build] = [:]

    init(_ rules: ExtractRules = ExtractRules()) { self.rules = rules }

    /// How many requests are held.
    var heldCount: Int { held.count }

    /// The jobs that are running, by package.
    var jobs: [ExtractID: UInt64] {
        builds.compactMapValues { build in
            if case .running(let job) = build { return job }
            return nil
        }
    }

    /// Whether a package is being built.
    func isBuilding(_ extract: ExtractID) -> Bool { builds[extract] != nil }

    /// Handles an event.
    ///
    /// - Parameter now: Seconds of a clock that never goes back.
    mutating func handle(_ event: Event, now: Double) -> [Effect] {
        switch event {
        case .asked(let request, let extract, let client, let isRanged):
            return add(request, for: extract, of: client, isRanged: isRanged, now: now)
        case .left(let request):
            held[request] = nil
            return []
        case .submitted(let extract, let job):
            if builds[extract] != nil { builds[extract] = .running(job: job) }
            return []
        case .notSubmitted(let extract, let refusal):
            builds[extract] = nil
            return waiting(extract).flatMap { end($0, refusal) }
        case .published(let extract):
            builds[extract] = nil
            return waiting(extract).map { request in
                let sent = held.removeValue(forKey: request)?.sent ?? 0
                return .serve(request, skipping: sent)
            }
        case .failed(let extract, let reason):
            builds[extract] = nil
            return waiting(extract).flatMap { end($0, .failed(reason)) }
        case .tick: return tick(now)
        }
    }

    private mutating func add(
        _ request: RequestID, for extract: ExtractID, of client: RateBuckets.Client, isRanged: Bool, now: Double
    ) -> [Effect] {
        let isNew = builds[extract] == nil
        guard held.count < rules.most, held.values.count(where: { $0.client == client }) < rules.maxEach,
            !isNew || builds.count < rules.maxOpen
        else { return [.refuse(request, .busy)] }
        held[request] = Held(extract: extract, client: client, isRanged: isRanged, since: now, lastByte: now)
        guard isNew else { return [] }
        builds[extract] = .submitting
        return [.submit(extract)]
    }

    private mutating func tick(_ now: Double) -> [Effect] {
        var effects: [Effect] = []
        for request in held.keys.sorted() {
            guard let one = held[request] else { continue }
            if now - one.since >= (one.isRanged ? rules.rangedHold : rules.hold) {
                effects += end(request, .late)
            } else if !one.isRanged, now - one.lastByte >= rules.heartbeat, one.sent < rules.bytes {
                held[request]?.sent += 1
                held[request]?.lastByte = now
                effects.append(.sendByte(request))
            }
        }
        return effects
    }

    private func waiting(_ extract: ExtractID) -> [RequestID] {
        held.filter { $0.value.extract == extract }.keys.sorted()
    }

    private mutating func end(_ request: RequestID, _ refusal: Refusal) -> [Effect] {
        guard let one = held.removeValue(forKey: request) else { return [] }
        return one.sent == 0 ? [.refuse(request, refusal)] : [.cut(request)]
    }
}
