/// What one session holds of one origin: its last grant, and earlier grants that it may still use because it has not
/// acknowledged a newer one.
struct Share: Sendable {
    /// A rate, a burst and a number of connections.
    struct Amount: Hashable, Sendable {
        /// Requests per second; `nil` = unlimited.
        var rate: Double?
        var burst: Double
        var concurrency: Int

        static let nothing = Amount(rate: 0, burst: 0, concurrency: 0)
        var isNothing: Bool { concurrency == 0 }
    }
    struct Grant: Sendable {
        var amount: Amount
        var round: UInt64
        var expires: Tick
    }

    /// Fetch leases of the session at this origin.
    var leases = 0
    /// When the last of them ended.
    var idleSince: Tick?
    /// Whether the session sent a message since the start of this coordinator.
    var isHere = false
    /// Consecutive reports without a waiting request.
    var contentReports = 0
    /// Whether its requests waited for a permit at its last report.
    var isWaiting = false
    /// What it held at the start of this run, according to its own report.
    ///
    /// Used only during learning.
    var claimed: Amount?
    /// The last grant that was sent; `nil` = it certainly holds nothing.
    var current: Grant?
    /// Earlier grants that may not have been replaced yet; oldest first.
    var older: [Grant] = []

    var amount: Amount { current?.amount ?? .nothing }
    var isSeated: Bool { leases > 0 }
    /// Whether it counts when the budget is divided.
    ///
    /// A session keeps its share between two batches.
    var isPresent: Bool { isSeated || idleSince != nil }
    /// Whether the share contains nothing that is still needed.
    var isForgettable: Bool { !isPresent && current == nil && older.isEmpty }
    /// The weight of a session with waiting requests is four times that of a session whose requests never wait.
    var weight: Int { isPresent && contentReports < 2 ? 4 : 1 }

    /// The most that the session may hold now, for each kind.
    var counted: Amount {
        var most = amount
        for grant in older {
            most.rate = max(most.rate ?? 0, grant.amount.rate ?? 0)
            most.burst = max(most.burst, grant.amount.burst)
            most.concurrency = max(most.concurrency, grant.amount.concurrency)
        }
        return most
    }

    /// Replaces the current grant; it may stay in use until it is acknowledged or expires.
    mutating func grant(_ amount: Amount, round: UInt64, until: Tick) {
        if let current { older.append(current) }
        current = Grant(amount: amount, round: round, expires: until)
    }

    /// The session has applied everything up to `round`.
    mutating func acknowledge(_ round: UInt64) {
        if let current, current.round <= round {
            older = []
            if current.amount.isNothing { self.current = nil }
        } else if let last = older.lastIndex(where: { $0.round <= round }) {
            older.removeFirst(last)
        }
    }

    mutating func expire(at now: Tick) {
        older.removeAll { $0.expires <= now }
        if let grant = current, grant.expires <= now { current = nil }
    }

    /// The next time at which one of its grants expires.
    var nextEnd: Tick? {
        older.reduce(current?.expires) { first, grant in first.map { min($0, grant.expires) } ?? grant.expires }
    }
}
