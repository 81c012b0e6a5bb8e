internal import WebRequests

/// What holders of tokens have used today, as a value.
///
/// A day is a day of UTC; each gateway counts for itself.
struct QuotaTable: Sendable {
    private struct Use {
        var bytes: UInt64 = 0
        var extracts = 0
    }

    private var day: Int64 = 0
    private var uses: [String: Use] = [:]

    /// Whether the token may download more.
    mutating func mayDownload(_ token: TokenEntry, now: Int64) -> Bool {
        turn(now)
        guard let most = token.bytesPerDay else { return true }
        return uses[token.name, default: Use()].bytes < most
    }

    /// Counts bytes that were sent.
    mutating func add(bytes: UInt64, _ token: TokenEntry, now: Int64) {
        turn(now)
        let sum = uses[token.name, default: Use()].bytes.addingReportingOverflow(bytes)
        uses[token.name, default: Use()].bytes = sum.overflow ? .max : sum.partialValue
    }

    /// Counts one extract, if the token may order one more.
    ///
    /// - Returns: Whether it may.
    mutating func countExtract(_ token: TokenEntry, now: Int64) -> Bool {
        turn(now)
        let used = uses[token.name, default: Use()].extracts
        if let most = token.extractsPerDay, used >= most { return false }
        uses[token.name, default: Use()].extracts = used + 1
        return true
    }

    /// Forgets what was used on another day.
    ///
    /// - Parameter now: Seconds since 1970.
    private mutating func turn(_ now: Int64) {
        let today = now / 86_400
        guard today != day else { return }
        day = today
        uses = [:]
    }
}
