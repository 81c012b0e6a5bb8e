/// An origin that gets no requests, for operators.
public struct OriginBlock: Hashable, Sendable {
    /// Its name.
    public let origin: String
    /// Whether it does not answer; if not, it asked to wait.
    public let isDown: Bool
    /// Milliseconds until the next request.
    public let wait: Int64

    /// An origin that gets no requests.
    public init(origin: String, isDown: Bool, wait: Int64) {
        self.origin = origin
        self.isDown = isDown
        self.wait = wait
    }

    /// The event as a line for people.
    public var text: String { "origin \(origin) \(reason)" }

    /// Why it gets no requests, without its name.
    public var reason: String {
        let seconds = (wait + 999) / 1_000
        return isDown
            ? "does not answer; the next attempt is in \(seconds) s"
            : "asked to wait; it gets no requests for \(seconds) s"
    }
}

/// Finds the origins that have just been blocked.
///
/// An origin is named once for a block, and at most once in ten minutes: one that asks for short waits again and again
/// would otherwise fill the log.
public struct OriginWatch: Sendable {
    /// When each blocked origin was named last.
    private var named: [String: Tick] = [:]
    private var blocked: Set<String> = []

    static let pause: Int64 = 600_000

    /// Knows no origin.
    public init() {}

    /// Compares the origins with those of the last call.
    public mutating func newBlocks(_ origins: [OriginView], now: Tick) -> [OriginBlock] {
        // While one request tests whether a server is back, it is still down.
        let shut = origins.filter { ["blocked", "broken", "probing"].contains($0.state) }
        let new = shut.filter { origin in
            origin.state != "probing" && !blocked.contains(origin.name)
                && named[origin.name].map { now - $0 >= Self.pause } ?? true
        }
        blocked = Set(shut.map(\.name))
        named = named.filter { now - $0.value < Self.pause }
        for origin in new { named[origin.name] = now }
        return new.map { OriginBlock(origin: $0.name, isDown: $0.state == "broken", wait: $0.blockedFor) }
    }
}
