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
        package var first = Duration.seconds(3)
        /// For all others, after the first one.
        package var others = Duration.milliseconds(500)

        package init(first: Duration = .seconds(3), others: Duration = .milliseconds(500)) {
            self.first = first
            self.others = others
        }
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
    package func epochs(of addresses: [String], patience: Patience = Patience()) async -> [String: UInt32] {
        await withTaskGroup(of: (address: String, epoch: UInt32)?.self) { group in
            for address in addresses {
                group.addTask { await self.ask(address).map { (address, $0) } ?? (address, 0) }
            }
            group.addTask { await Self.wait(patience.first) }
            var found: [String: UInt32] = [:]
            var left = addresses.count
            while left > 0, let result = await group.next() {
                // The time is over.
                guard let result else { break }
                left -= 1
                guard result.epoch > 0 else { continue }
                if found.isEmpty { group.addTask { await Self.wait(patience.others) } }
                found[result.address] = result.epoch
            }
            group.cancelAll()
            return found
        }
    }

    private static func wait(_ time: Duration) async -> (address: String, epoch: UInt32)? {
        // A cancelled sleep returns at once, and its result is not read.
        try? await Task.sleep(for: time)
        return nil
    }

    /// The epoch of a coordinator; `nil` when the task is cancelled before it answers, and for an unusable address.
    private func ask(_ address: String) async -> UInt32? {
        guard let link = try? DealerLink(connect: address, security: security, options: options) else { return nil }
        let epoch = try? await ask(link)
        await link.close()
        return epoch
    }

    private func ask(_ link: DealerLink) async throws -> UInt32 {
        let question = try Frame(session: session, seq: 1, message).encoded()
        var asked = 0
        while true {
            try Task.checkCancellation()
            if link.state == .connected, link.connections > asked {
                asked = link.connections
                try await link.send([question])
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
