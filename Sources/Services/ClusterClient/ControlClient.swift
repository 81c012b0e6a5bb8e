import Errors
import Foundation
internal import Synchronization
internal import TextFormats
package import Wire
package import ZeroMQ

/// Sends requests to the coordinator and waits for the answers; any number of requests may wait at the same time.
///
/// Repeating a request is always safe: submissions have a request id, all other requests read or are idempotent.
package final class ControlClient: Sendable {
    private let route: CoordinatorRoute
    private let timeout: Duration
    private let session = UInt64.random(in: 1...UInt64.max)
    private let sequence = Counter()
    private let answers = AnswerBook()

    package convenience init(endpoint: String, security: LinkSecurity, allowPlain: Bool, timeout: Duration) throws {
        try self.init(endpoints: [endpoint], security: security, allowPlain: allowPlain, timeout: timeout)
    }

    /// A client of the coordinator that has the highest epoch of those at several addresses.
    ///
    /// - Parameter endpoints: One at least.
    /// - Throws: `ZeroMQError` for an address that cannot be used.
    package init(
        endpoints: [String], security: LinkSecurity, allowPlain: Bool, timeout: Duration,
        survey: EpochSurvey.Patience = .command
    ) throws {
        self.timeout = timeout
        var options = LinkOptions()
        // Callers wait three seconds for an answer, so a longer pause between attempts would fail them.
        options.reconnectMax = .seconds(1)
        options.allowPlain = allowPlain
        // With several addresses the next one is tried soon.
        options.sendPatience = endpoints.count > 1 ? min(timeout, .seconds(1)) : timeout
        options.maxFrameBytes = [MessageType.maxControlFrame]
        route = try CoordinatorRoute(endpoints, security: security, options: options, patience: survey)
    }

    package func close() async { await route.close() }

    package func submit(_ request: PBSubmit) async throws -> PBSubmitted {
        guard case .submitted(let answer) = try await sendRequest(.submit(request)) else { throw unexpected }
        return answer
    }

    package func job(_ number: UInt64, failures: UInt32) async throws -> PBJobStatus {
        let request = PBGetJob.make {
            $0.job = number
            $0.failures = failures
        }
        guard case .jobStatus(let answer) = try await sendRequest(.getJob(request)) else { throw unexpected }
        return answer
    }

    /// The newest jobs, newest first.
    package func jobs(limit: UInt32) async throws -> [PBJobStatus] {
        try await jobs(PBListJobs(), limit: Int(limit)).jobs
    }

    /// At most `limit` of the requested jobs, newest first, and whether there may be more.
    ///
    /// Requests page after page: the size of a page is limited by a message, and its cost by the coordinator.
    package func jobs(_ question: PBListJobs, limit: Int) async throws -> (jobs: [PBJobStatus], next: UInt64) {
        var question = question
        var jobs: [PBJobStatus] = []
        while true {
            question.limit = UInt32(clamping: min(limit - jobs.count, 200))
            guard case .jobs(let page) = try await sendRequest(.listJobs(question)) else { throw unexpected }
            jobs += page.jobs.reversed()
            guard page.next != 0, jobs.count < limit else { return (jobs, page.next) }
            question.before = page.next
        }
    }

    package func cancel(_ number: UInt64) async throws {
        guard case .done = try await sendRequest(.cancelJob(.make { $0.job = number })) else { throw unexpected }
    }

    package func origins() async throws -> [PBOriginStatus] {
        guard case .origins(let answer) = try await sendRequest(.listOrigins(PBListOrigins())) else { throw unexpected }
        return answer.origins
    }

    /// Sends an order for a job.
    ///
    /// The answer contains the result.
    package func order(_ order: PBJobOrder) async throws -> PBOrdered { try await ordered(.jobOrder(order)) }

    package func failedWork(_ request: PBListFailed) async throws -> PBFailedWork {
        guard case .failedWork(let answer) = try await sendRequest(.listFailed(request)) else { throw unexpected }
        return answer
    }

    package func orderFailed(_ number: UInt64, _ order: String, batches: [UInt64]) async throws -> PBOrdered {
        try await ordered(
            .failedOrder(
                .make {
                    $0.job = number
                    $0.order = order
                    $0.batches = batches
                }))
    }

    package func putSchedule(_ schedule: PBSchedule) async throws -> PBOrdered {
        try await ordered(.putSchedule(.make { $0.schedule = schedule }))
    }

    /// `drop`, `pause` or `resume`.
    package func order(schedule id: String, _ order: String) async throws -> PBOrdered {
        try await ordered(
            .scheduleOrder(
                .make {
                    $0.order = order
                    $0.id = id
                }))
    }

    package func schedules() async throws -> [PBSchedule] {
        guard case .schedules(let answer) = try await sendRequest(.listSchedules(PBListSchedules())) else {
            throw unexpected
        }
        return answer.schedules
    }

    /// Changes some of a schedule.
    package func edit(schedule id: String, _ edit: PBScheduleEdit) async throws -> PBOrdered {
        try await ordered(
            .scheduleOrder(
                .make {
                    $0.order = "edit"
                    $0.id = id
                    $0.edit = edit
                }))
    }

    /// A schedule with its newest firings.
    package func schedule(_ id: String) async throws -> PBScheduleDetail {
        guard case .scheduleDetail(let answer) = try await sendRequest(.getSchedule(.make { $0.id = id })) else {
            throw unexpected
        }
        return answer
    }

    private func ordered(_ message: Message) async throws -> PBOrdered {
        guard case .ordered(let answer) = try await sendRequest(message) else { throw unexpected }
        return answer
    }

    package func workers() async throws -> [PBWorkerStatus] {
        guard case .workers(let answer) = try await sendRequest(.listWorkers(PBListWorkers())) else { throw unexpected }
        return answer.workers
    }

    package func drain(_ name: String, undo: Bool) async throws -> PBOrdered {
        let request = PBDrainWorker.make {
            $0.name = name
            $0.undo = undo
        }
        guard case .ordered(let answer) = try await sendRequest(.drainWorker(request)) else { throw unexpected }
        return answer
    }

    /// `open`, `limit` or `clear` for the origin that the limit names; 0 = no limit of that kind.
    package func order(_ order: String, _ limit: PBOriginLimit) async throws -> PBOrdered {
        try await ordered(
            .originOrder(
                .make {
                    $0.order = order
                    $0.limit = limit
                }))
    }

    /// Lines of the event log after `after`.
    ///
    /// Waits up to `wait` for the first one.
    ///
    /// - Parameters:
    ///   - newest: Begin with the line at this place counted from the end, whatever `after` says; 0 = begin after
    ///     `after`.
    ///   - areNotifications: Whether only notifications are wanted.
    package func events(
        after: UInt64, newest: UInt32 = 0, limit: UInt32, wait: Duration = .zero, job: UInt64 = 0,
        areNotifications: Bool = false
    ) async throws -> PBEvents {
        let question = PBGetEvents.make {
            $0.after = after
            $0.newest = newest
            $0.limit = limit
            $0.waitMs = UInt32(clamping: Int(wait.seconds * 1_000))
            $0.job = job
            $0.notifications = areNotifications
        }
        guard case .events(let answer) = try await sendRequest(.getEvents(question), patience: wait) else {
            throw unexpected
        }
        return answer
    }

    package func backup(_ name: String) async throws -> PBBackedUp {
        guard case .backedUp(let answer) = try await sendRequest(.backup(.make { $0.name = name })) else {
            throw unexpected
        }
        return answer
    }

    /// Where a running job stands, as pictures of its cells.
    ///
    /// - Parameter size: The longest side of a picture.
    package func coverage(_ number: UInt64, size: UInt32) async throws -> PBCoverage {
        let request = PBGetCoverage.make {
            $0.job = number
            $0.size = size
        }
        guard case .coverage(let answer) = try await sendRequest(.getCoverage(request)) else { throw unexpected }
        return answer
    }

    /// Withdraws packages with all their versions from the catalog.
    package func withdraw(_ packages: [String], edition: PBEdition) async throws -> PBOrdered {
        try await ordered(
            .withdraw(
                .make {
                    $0.packages = packages
                    $0.edition = edition
                }))
    }

    /// Promotes packages of a catalog, or rolls packages back.
    ///
    /// The coordinator reads the files of the packages before it answers; the order may be sent again while it does, and
    /// then finds nothing to change.
    package func change(_ order: PBChangeCatalog) async throws -> PBCatalogChanged {
        guard case .catalogChanged(let answer) = try await sendRequest(.changeCatalog(order), patience: .seconds(3_600))
        else { throw unexpected }
        return answer
    }

    /// What differs between two catalogs of the coordinator.
    package func compare(_ wanted: PBCompareCatalogs) async throws -> PBCatalogChanged {
        guard case .catalogChanged(let answer) = try await sendRequest(.compareCatalogs(wanted)) else {
            throw unexpected
        }
        return answer
    }

    package func health() async throws -> PBHealth {
        guard case .health(let answer) = try await sendRequest(.ping(PBPing())) else { throw unexpected }
        return answer
    }

    // MARK: - Asking

    /// The addresses, for people.
    private var endpoint: String { route.addresses.joined(separator: " or ") }

    private var unexpected: ClusterError {
        ClusterError(
            .unexpectedAnswer, "the coordinator at \(endpoint) answered with an unexpected message type",
            hint: "use the same version of packhorse for the command line and the coordinator")
    }

    private var silence: ClusterError {
        ClusterError(
            .unreachable, "no coordinator answers at \(endpoint) within \(timeout.seconds) s",
            hint:
                "start one with 'packhorse coordinator', or name it with --coordinator tcp://HOST:7470 (and --keys); the port is that of 'coordinator --control' (7470), not of --work (7471)"
        )
    }

    /// Sends one message and returns its answer.
    ///
    /// Sends it again when the link was connected again meanwhile: the coordinator that had it may have ended.
    ///
    /// - Throws: ``ClusterError`` `unreachable` when no answer arrives in time, else according to the coordinator's ``PBProblem``.
    private func sendRequest(_ message: Message, patience: Duration = .zero) async throws -> Message {
        let number = sequence.next()
        let question = try Frame(session: session, seq: number, message).bytes()
        answers.expect(number)
        do { return try await answer(to: question, number, patience: patience) } catch {
            answers.forget(number)
            throw error
        }
    }

    private func answer(to question: [UInt8], _ number: UInt64, patience: Duration) async throws -> Message {
        let clock = ContinuousClock()
        let isAlone = route.addresses.count == 1
        let begin = clock.now
        var link = try await route.link(until: begin + timeout)
        var (connection, refusal) = try await send(question, on: link)
        let deadline = begin + timeout + patience
        var looked = clock.now
        while clock.now < deadline {
            // Each call that waits receives for all calls, so an answer may be there already.
            if let answer = answers.take(number) { return try Self.checked(answer) }
            if !isAlone, clock.now - looked > .seconds(1) {
                looked = clock.now
                let other = try await route.other(isLost: link.state != .connected, isWaiting: patience > .zero)
                if other !== link {
                    link = other
                    (connection, refusal) = try await send(question, on: link)
                }
            }
            if link.connections > connection { (connection, refusal) = try await send(question, on: link) }
            let turn = Duration.milliseconds(answers.isShared ? 20 : 200)
            for bytes in try await link.receive(upTo: min(turn, max(deadline - clock.now, .milliseconds(1)))) {
                let frame = try Frame(decoding: bytes)
                guard frame.session == session, route.heard(frame.epoch) else { continue }
                answers.put(frame.message, for: frame.re)
            }
        }
        if let answer = answers.take(number) { return try Self.checked(answer) }
        throw refusal ?? silence
    }

    /// Sends a request.
    ///
    /// - Returns: In which connection of the link it was sent at the earliest, counted from 1; and why it was not sent, when another
    ///   address may be tried.
    private func send(
        _ question: [UInt8], on link: DealerLink
    ) async throws -> (connection: Int, refusal: (any Error)?) {
        let connection = link.connections
        do { try await link.send([question]) } catch {
            if route.addresses.count > 1, error.code == .unreachable || error.code == .refused {
                return (connection, error.code == .refused ? error : nil)
            }
            if error.code == .unreachable { throw silence }
            throw error
        }
        // A frame waits for the first connection.
        return (max(connection, 1), nil)
    }

    private static func checked(_ message: Message) throws -> Message {
        if case .problem(let problem) = message { throw ClusterError(problem) }
        return message
    }
}

/// Answers that came and were not taken by the one who asked.
private final class AnswerBook: Sendable {
    private let open = Mutex<[UInt64: Message?]>([:])

    /// An answer to the number is waited for.
    func expect(_ number: UInt64) { open.withLock { _ = $0.updateValue(nil, forKey: number) } }

    /// Whether several requests wait, so that one may receive the answer of another.
    var isShared: Bool { open.withLock { $0.count > 1 } }

    /// No caller waits for the number any more.
    func forget(_ number: UInt64) { open.withLock { _ = $0.removeValue(forKey: number) } }

    /// An answer came; one that no caller waits for is dropped, and so is a second one: a request that was sent twice may be refused
    /// the second time.
    func put(_ message: Message, for number: UInt64) {
        open.withLock { open in
            guard let held = open[number], held == nil else { return }
            _ = open.updateValue(message, forKey: number)
        }
    }

    /// The answer, once; `nil` while it has not come.
    func take(_ number: UInt64) -> Message? {
        open.withLock { open in
            guard let found = open[number], let message = found else { return nil }
            _ = open.removeValue(forKey: number)
            return message
        }
    }
}
