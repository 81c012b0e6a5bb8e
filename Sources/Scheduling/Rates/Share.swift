/// What one session holds of one origin: what it was told last, and what it may still hold because it has not said that it knows better.
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
    struct Told: Sendable {
        var amount: Amount
        var round: UInt64
        var expires: Tick
    }

    /// Fetch leases of the session at this origin.
    var leases = 0
    /// When the last of them ended.
    var idleSince: Tick?
    /// Whether the session was heard since the start of this coordinator.
    var isHere = false
    /// Reports in a row without a waiting request.
    var contentReports = 0
    /// Whether requests of it waited for a permit at its last report.
    var isWaiting = false
    /// What it held when this incarnation began, by its own word; matters only while that learns.
    var claimed: Amount?
    /// Last told; `nil` = surely holds nothing.
    var current: Told?
    /// Told before, not yet known to be replaced; oldest first.
    var older: [Told] = []

    var amount: Amount { current?.amount ?? .nothing }
    var isSeated: Bool { leases > 0 }
    /// Whether it counts when the budget is divided: between two batches a session keeps its place.
    var isPresent: Bool { isSeated || idleSince != nil }
    /// Whether nothing of it matters any more.
    var isForgettable: Bool { !isPresent && current == nil && older.isEmpty }
    /// A session with work left over counts four times one whose requests never wait.
    var weight: Int { isPresent && contentReports < 2 ? 4 : 1 }

    /// The most it can hold now, of each kind.
    var counted: Amount {
        var most = amount
        for told in older {
            most.rate = max(most.rate ?? 0, told.amount.rate ?? 0)
            most.burst = max(most.burst, told.amount.burst)
            most.concurrency = max(most.concurrency, told.amount.concurrency)
        }
        return most
    }

    mutating func tell(_ amount: Amount, round: UInt64, until: Tick) {
        if let current { older.append(current) }
        current = Told(amount: amount, round: round, expires: until)
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
        if let told = current, told.expires <= now { current = nil }
    }

    /// When something of it ends by itself.
    var nextEnd: Tick? {
        older.reduce(current?.expires) { first, told in first.map { min($0, told.expires) } ?? told.expires }
    }
}
