internal import Foundation
internal import PackageFiles

/// Formats and parses times; all are UTC.
package enum WallTime {
    /// `2026-11-22T14:03:05Z`; `nil` for 0, which means an unknown time.
    ///
    /// - Parameter wall: Milliseconds since 1970.
    package static func iso(_ wall: Int64) -> String? {
        wall == 0 ? nil : Date(timeIntervalSince1970: Double(wall) / 1_000).ISO8601Format()
    }

    /// The time for a table: `14:03` on the day of `now`, `11-22 14:03` in its year, else `2025-11-22`; `-` for an
    /// unknown time.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970; 0 = unknown.
    ///   - now: Milliseconds since 1970.
    package static func short(_ time: Int64, now: Int64) -> String {
        guard let time = iso(time), time.count == 20, let now = iso(now) else { return "-" }
        let (day, clock) = (time.prefix(10), time.dropFirst(11).prefix(5))
        if day == now.prefix(10) { return String(clock) }
        return time.prefix(4) == now.prefix(4) ? "\(day.dropFirst(5)) \(clock)" : String(day)
    }

    /// Parses a point in time: a day, an instant, or a duration ago: `2026-10-01`, `2026-10-01T12:00:00Z`, `90min`,
    /// `36h`, `7d`.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: Milliseconds since 1970, at least 1; `nil` for any other text.
    package static func parse(_ text: String, now: Int64) -> Int64? {
        if let seconds = DataDate.seconds(text) { return max(seconds * 1_000, 1) }
        return duration(text).map { max(now - $0, 1) }
    }

    /// Parses a duration: `30s`, `90min`, `36h`, `7d`.
    ///
    /// - Returns: Milliseconds; `nil` for any other text.
    package static func duration(_ text: String) -> Int64? {
        for (suffix, factor) in [("min", Int64(60_000)), ("s", 1_000), ("h", 3_600_000), ("d", 86_400_000)]
        where text.hasSuffix(suffix) {
            guard let count = Int64(text.dropLast(suffix.count)), (0...1_000_000).contains(count) else { return nil }
            return count * factor
        }
        return nil
    }

    /// The current time, in milliseconds since 1970.
    package static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}
