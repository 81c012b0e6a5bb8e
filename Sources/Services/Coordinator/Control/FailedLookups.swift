import Scheduling

/// Schedules whose newest build was not found, and when it is looked for again: after 1 minute, then 2, 4 and so on, at most an hour.
struct FailedLookups {
    private struct Entry {
        var attempts: Int
        /// When the first of them failed.
        var since: Tick
        var again: Tick
        var trouble: Trouble
    }
    /// A firing is given up this long after its first look-up failed.
    ///
    /// Milliseconds.
    private static let limit: Int64 = 86_400_000
    private static let first: Int64 = 60_000
    private static let longest: Int64 = 3_600_000
    private var entries: [String: Entry] = [:]

    /// Why the last look-up of a schedule failed, while the next one is not due.
    func trouble(of schedule: String, now: Tick) -> Trouble? {
        entries[schedule].flatMap { $0.again > now ? $0.trouble : nil }
    }

    /// A look-up failed.
    ///
    /// - Returns: Whether it is repeated; if not, the firing has ended.
    @discardableResult
    mutating func fail(_ schedule: String, _ trouble: Trouble, now: Tick) -> Bool {
        let since = entries[schedule]?.since ?? now
        guard now - since < Self.limit else {
            end(schedule)
            return false
        }
        let attempts = (entries[schedule]?.attempts ?? 0) + 1
        let pause = min(Self.first << min(attempts - 1, 6), Self.longest)
        entries[schedule] = Entry(attempts: attempts, since: since, again: now + pause, trouble: trouble)
        return true
    }

    /// A firing of the schedule has ended.
    mutating func end(_ schedule: String) { entries[schedule] = nil }
}
