internal import Foundation

/// Times of events as text.
package enum UTCTime {
    /// ISO 8601 in UTC with milliseconds: `2026-11-25T03:00:00.123Z`.
    ///
    /// - Parameter milliseconds: Since 1970.
    package static func text(milliseconds: Int64) -> String {
        // The format cuts off what is below a millisecond, and most milliseconds are no exact fraction.
        Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1_000).ISO8601Format(
            .init(includingFractionalSeconds: true))
    }
}
