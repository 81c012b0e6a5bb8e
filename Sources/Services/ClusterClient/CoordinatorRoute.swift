internal import Errors
internal import Synchronization
internal import ZeroMQ

/// The links to the addresses of a coordinator, and which of them is used.
///
/// With several addresses all are asked for their epochs before the first request, and again while no answer comes. A
/// coordinator of a lower epoch than one that was heard is not used any more.
final class CoordinatorRoute: Sendable {
    /// One at least.
    let addresses: [String]
    private let survey: EpochSurvey
    private let patience: EpochSurvey.Patience

    private struct State {
        /// One for each address, open until the end: requests that wait may use them.
        var links: [String: DealerLink] = [:]
        var present: String?
        var heard: UInt32 = 0
        var asked: ContinuousClock.Instant?
        /// The survey that runs.
        var survey: Task<Void, Never>?
        var isClosed = false
    }
    private let state: Mutex<State>

    /// How often all addresses are asked, while answers come.
    private static let interval = Duration.seconds(15)

    /// Starts to connect to all addresses.
    ///
    /// - Throws: `ZeroMQError` for an address that cannot be used.
    init(
        _ addresses: [String], security: LinkSecurity, options: LinkOptions, patience: EpochSurvey.Patience
    ) throws {
        self.patience = patience
        self.addresses = addresses
        survey = EpochSurvey(.control, security: security, allowPlain: options.allowPlain)
        var state = State()
        if addresses.count == 1 { state.present = addresses[0] }
        for address in addresses {
            state.links[address] = try DealerLink(connect: address, security: security, options: options)
        }
        self.state = Mutex(state)
    }

    /// The link for a request.
    ///
    /// - Parameter deadline: Until when a coordinator is looked for that says its epoch; then the first address is used.
    func link(until deadline: ContinuousClock.Instant) async throws -> DealerLink {
        guard addresses.count > 1 else { return try open() }
        let (isFirst, isOld) = state.withLock { state in
            (state.present == nil, state.asked.map { ContinuousClock.now - $0 > Self.interval } ?? true)
        }
        if isFirst {
            repeat {
                try Task.checkCancellation()
                await ask(isLost: true)
            } while state.withLock { $0.present == nil && !$0.isClosed } && ContinuousClock.now < deadline
        } else if isOld {
            // The request need not wait for it.
            begin(isLost: false)
        }
        return try open()
    }

    /// The link for a request that gets no answer.
    ///
    /// - Parameters:
    ///   - isLost: Whether the coordinator is not connected: then the addresses are asked first, unless they were a short time ago.
    ///     Otherwise they are asked while the request waits.
    ///   - isWaiting: Whether the request waits for something that happens, so that its answer may come late.
    func other(isLost: Bool, isWaiting: Bool) async throws -> DealerLink {
        guard addresses.count > 1 else { return try open() }
        let age = isLost ? Duration.seconds(1) : isWaiting ? Self.interval : .seconds(3)
        let isFresh = state.withLock { $0.asked.map { ContinuousClock.now - $0 < age } ?? false }
        if !isFresh {
            if isLost { await ask(isLost: true) } else { begin(isLost: false) }
        }
        return try open()
    }

    /// An answer came; one of a lower epoch than that of an earlier one is not obeyed.
    func heard(_ epoch: UInt32) -> Bool {
        state.withLock { state in
            guard addresses.count > 1, epoch > 0 else { return true }
            guard epoch >= state.heard else {
                state.asked = nil
                return false
            }
            state.heard = epoch
            return true
        }
    }

    func close() async {
        let links = state.withLock { state in
            defer { state.links = [:] }
            state.isClosed = true
            state.survey?.cancel()
            return Array(state.links.values)
        }
        for link in links { await link.close() }
    }

    private func open() throws -> DealerLink {
        let link = state.withLock { $0.links[$0.present ?? addresses[0]] }
        guard let link else { throw ZeroMQError(.closed, "The link to '\(addresses[0])' was closed.") }
        return link
    }

    private func ask(isLost: Bool) async { await begin(isLost: isLost).value }

    /// Begins a survey, or finds the one that runs.
    @discardableResult private func begin(isLost: Bool) -> Task<Void, Never> {
        state.withLock { state in
            if let running = state.survey { return running }
            // It outlives this call: several requests may wait for it, and ``close()`` cancels it.
            let task = Task { [self] in
                let epochs = await survey.epochs(of: addresses, patience: patience)
                self.state.withLock { state in
                    let choice = HighestCoordinator.choice(
                        among: epochs, present: state.present, heard: state.heard, isLost: isLost)
                    state.present = choice ?? state.present
                    state.heard = max(state.heard, epochs.values.max() ?? 0)
                    state.asked = .now
                    state.survey = nil
                }
            }
            state.survey = task
            return task
        }
    }
}
