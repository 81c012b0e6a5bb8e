internal import Synchronization
internal import Wire
package import ZeroMQ

/// Asks several coordinators for their epochs, all at the same time.
///
/// The question changes nothing at the coordinator.
package struct EpochSurvey: Sendable {
    /// Which endpoint of a coordinator is asked.
    package enum Endpoint: Sendable { case control, work }

    /// How long an answer is waited for.
    package struct Patience: Sendable {
        /// For the first answer.
        package var first: Duration
        /// For all others, after the first one: addresses at which no coordinator listens cost this time.
        package var others: Duration
        /// For those at which a coordinator listens, after the first answer.
        package var connected: Duration

        package init(first: Duration, others: Duration, connected: Duration) {
            self.first = first
            self.others = others
            self.connected = connected
        }

        /// That of a command, which repeats a survey without an answer.
        package static let command = Patience(first: .seconds(2), others: .milliseconds(500), connected: .seconds(5))
        /// That of a worker.
        package static let worker = Patience(first: .seconds(3), others: .milliseconds(500), connected: .seconds(5))
    }

    private enum Timer: Sendable { case first, others, connected }

    /// What a survey waits for.
    private enum Event: Sendable {
        /// 0 = the address will not answer.
        case epoch(UInt32, address: String)
        case timeIsOver(Timer)
    }

    /// How many coordinators are connected and have not answered.
    private final class Listeners: Sendable {
        private let silent = Mutex(0)

        func change(by step: Int) { silent.withLock { $0 += step } }

        var areSilent: Bool { silent.withLock { $0 > 0 } }
    }

    private let endpoint: Endpoint
    private let security: LinkSecurity
    private let options: LinkOptions
    private let session = UInt64.random(in: 1...UInt64.max)

    package init(_ endpoint: Endpoint, security: LinkSecurity, allowPlain: Bool) {
        self.endpoint = endpoint
        self.security = security
        var options = LinkOptions()
        options.allowPlain = allowPlain
        options.reconnectMax = .seconds(1)
        options.sendPatience = .milliseconds(200)
        options.maxFrameBytes = [MessageType.maxControlFrame]
        self.options = options
    }

    /// The epochs of those that answer, by address.
    ///
    /// Returns when all have answered, or at the end of the patience. Connections are closed before.
    package func epochs(of addresses: [String], patience: Patience) async -> [String: UInt32] {
        let listeners = Listeners()
        return await withTaskGroup(of: Event.self) { group in
            for address in addresses { group.addTask { await self.ask(address, listeners) } }
            group.addTask { await Self.wait(patience.first, .first) }
            var found: [String: UInt32] = [:]
            var left = addresses.count
            loop: while left > 0, let event = await group.next() {
                switch event {
                case .epoch(let epoch, let address):
                    left -= 1
                    guard epoch > 0 else { continue }
                    if found.isEmpty { group.addTask { await Self.wait(patience.others, .others) } }
                    found[address] = epoch
                case .timeIsOver(.first): if found.isEmpty { break loop }
                case .timeIsOver(.others):
                    guard listeners.areSilent else { break loop }
                    group.addTask { await Self.wait(patience.connected, .connected) }
                case .timeIsOver(.connected): break loop
                }
            }
            group.cancelAll()
            return found
        }
    }

    private static func wait(_ time: Duration, _ timer: Timer) async -> Event {
        // A cancelled sleep returns at once, and its result is not read.
        try? await Task.sleep(for: time)
        return .timeIsOver(timer)
    }

    private func ask(_ address: String, _ listeners: Listeners) async -> Event {
        guard let link = try? DealerLink(connect: address, security: security, options: options) else {
            return .epoch(0, address: address)
        }
        let epoch = try? await ask(link, listeners)
        await link.close()
        return .epoch(epoch ?? 0, address: address)
    }

    /// The epoch of a coordinator, asked once in each connection.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before it answers.
    private func ask(_ link: DealerLink, _ listeners: Listeners) async throws -> UInt32 {
        let question = try Frame(session: session, seq: 1, message).encoded()
        var asked = 0
        defer { if asked > 0 { listeners.change(by: -1) } }
        while true {
            try Task.checkCancellation()
            let connection = link.connections
            if link.state == .connected, connection > asked {
                if asked == 0 { listeners.change(by: 1) }
                asked = connection
                try? await link.send([question])
            }
            for bytes in try await link.receive(upTo: .milliseconds(200)) {
                let frame = try Frame(decoding: bytes)
                if frame.session == session, frame.epoch > 0 { return frame.epoch }
            }
        }
    }

    /// A report of a worker that the coordinator does not know is answered by the question who it is.
    private var message: Message {
        switch endpoint {
        case .control: .ping(PBPing())
        case .work: .progress(PBProgress())
        }
    }
}

/// Which of several coordinators to stay with: the one of the highest epoch.
package enum HighestCoordinator {
    /// The address to use after a survey; `nil` = stay at the present one.
    ///
    /// - Parameters:
    ///   - epochs: The answers.
    ///   - present: The address that is used now; `nil` = none yet.
    ///   - heard: The highest epoch that was ever heard; a coordinator of a lower one was replaced.
    ///   - isLost: Whether the present coordinator does not answer.
    package static func choice(
        among epochs: [String: UInt32], present: String?, heard: UInt32, isLost: Bool
    ) -> String? {
        // Equal epochs are one coordinator at several addresses; names decide, so that the choice does not change.
        let best = epochs.filter { $0.value >= heard }.max { ($0.value, $1.key) < ($1.value, $0.key) }
        guard let best, best.key != present else { return nil }
        guard let present else { return best.key }
        if let own = epochs[present] { return best.value > own ? best.key : nil }
        return isLost || best.value > heard ? best.key : nil
    }
}
