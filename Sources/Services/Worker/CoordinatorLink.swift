internal import ClusterClient
internal import Errors
internal import Synchronization
internal import ZeroMQ

/// A worker's link to its coordinator: one socket, to one of several addresses at a time.
///
/// Never one socket to all of them: a DEALER sends to its peers in turn, also to those that were replaced.
final class CoordinatorLink: Sendable {
    /// One at least.
    let addresses: [String]
    private let security: LinkSecurity
    private let options: LinkOptions
    private let survey: EpochSurvey
    private let patience: EpochSurvey.Patience
    private let current: Mutex<DealerLink>

    /// Starts to connect: to the only address, or to the one whose coordinator has the highest epoch.
    ///
    /// - Throws: `ZeroMQError` for an address that cannot be used; `CancellationError`.
    init(
        _ addresses: [String], security: LinkSecurity, options: LinkOptions, patience: EpochSurvey.Patience
    ) async throws {
        self.addresses = addresses
        self.security = security
        self.options = options
        self.patience = patience
        survey = EpochSurvey(.work, security: security, allowPlain: options.allowPlain)
        var first = addresses[0]
        if addresses.count > 1 {
            // An address that cannot be used is refused now; a survey passes over it.
            for address in addresses { _ = try DealerLink(connect: address, security: security, options: options) }
            let epochs = await survey.epochs(of: addresses, patience: patience)
            try Task.checkCancellation()
            first = HighestCoordinator.choice(among: epochs, present: nil, heard: 0, isLost: true) ?? first
        }
        current = Mutex(try DealerLink(connect: first, security: security, options: options))
    }

    /// The link in use.
    private var link: DealerLink { current.withLock { $0 } }
    /// The address in use.
    var endpoint: String { link.endpoint }
    /// The state of the link in use.
    var state: LinkState { link.state }

    /// As ``DealerLink/receive(upTo:)``; empty when the address was changed.
    func receive(upTo limit: Duration) async throws -> [[UInt8]] {
        let link = link
        do {
            return try await link.receive(upTo: limit)
        } catch let error as ZeroMQError where error.code == .closed && self.link !== link {
            return []
        }
    }

    /// As ``DealerLink/send(_:)``.
    func send(_ frames: [[UInt8]]) async throws(ZeroMQError) { try await link.send(frames) }

    /// As ``DealerLink/reconnect()``.
    func reconnect() async { await link.reconnect() }

    /// As ``DealerLink/close()``.
    func close() async { await link.close() }

    /// Asks all addresses for their epochs, and goes to the one that the worker has to stay with.
    ///
    /// - Parameters:
    ///   - heard: The highest epoch that the worker has heard.
    ///   - isLost: Whether the present coordinator does not answer.
    /// - Returns: The new address; `nil` = the present one stays.
    func look(heard: UInt32, isLost: Bool) async -> String? {
        let epochs = await survey.epochs(of: addresses, patience: patience)
        let choice = HighestCoordinator.choice(among: epochs, present: endpoint, heard: heard, isLost: isLost)
        guard !Task.isCancelled, let choice,
            let new = try? DealerLink(connect: choice, security: security, options: options)
        else { return nil }
        let old = current.withLock { current in
            defer { current = new }
            return current
        }
        await old.close()
        return choice
    }
}
