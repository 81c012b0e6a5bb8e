internal import TextFormats
package import Wire

extension PBOriginStatus {
    /// `nil` = an operator's limit for the rate alone, which does not limit the connections of an unused origin.
    var shownConcurrency: UInt32? { concurrency == 1_000_000 ? nil : concurrency }

    /// `nil` = neither the limit nor the grants have a rate.
    var shownGrantedPerSecond: Double? { perSecond > 0 || grantedPerSecond > 0 ? grantedPerSecond : nil }

    /// The limits of the tilesets as text.
    package var limit: String { Self.text(Self.set(perSecond), shownConcurrency) }
    /// The operator's limits as text.
    package var operatorText: String {
        Self.text(
            Self.set(operatorPerSecond), Self.set(operatorConcurrency), bytesPerSecond: Self.set(operatorBytesPerSecond)
        )
    }
    /// What the origin accepts, as text.
    package var accepts: String { Self.text(Self.set(foundPerSecond), Self.set(foundConcurrency)) }
    /// What workers hold now, as text.
    package var granted: String { grantedConcurrency == 0 ? "-" : Self.text(shownGrantedPerSecond, grantedConcurrency) }

    private static func set<Number: Numeric>(_ limit: Number) -> Number? { limit == 0 ? nil : limit }

    private static func text(_ rate: Double?, _ connections: UInt32?, bytesPerSecond: Double? = nil) -> String {
        let parts = [
            rate.map { "\(Units.decimal($0, places: 1))/s" }, connections.map { "\($0) connections" },
            bytesPerSecond.map { "\(Units.bytes(UInt64(min($0, 1e15))))/s" },
        ]
        return parts.allSatisfy { $0 == nil } ? "-" : parts.compactMap(\.self).joined(separator: ", ")
    }
}
