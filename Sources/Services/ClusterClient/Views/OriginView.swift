internal import TextFormats
package import Wire

/// An origin as printed.
package struct OriginView: Encodable, Sendable {
    package let origin: String
    package let state: String
    package let perSecond: Double?
    package let concurrency: UInt32?
    package let operatorPerSecond: Double?
    package let operatorConcurrency: UInt32?
    package let acceptsPerSecond: Double?
    package let acceptsConcurrency: UInt32?
    package let grantedPerSecond: Double?
    package let grantedConcurrency: UInt32
    package let workers: UInt32
    package let blockedSeconds: Double
    package let requests: UInt64
    package let throttled: UInt64
    package let failed: UInt64
    package let factor: Double

    package init(_ status: PBOriginStatus) {
        origin = status.origin
        state = status.state
        perSecond = status.perSecond > 0 ? status.perSecond : nil
        // An operator's limit for the rate alone does not limit the connections of an unused origin.
        concurrency = status.concurrency == 1_000_000 ? nil : status.concurrency
        operatorPerSecond = status.operatorPerSecond > 0 ? status.operatorPerSecond : nil
        operatorConcurrency = status.operatorConcurrency > 0 ? status.operatorConcurrency : nil
        acceptsPerSecond = status.foundPerSecond > 0 ? status.foundPerSecond : nil
        acceptsConcurrency = status.foundConcurrency > 0 ? status.foundConcurrency : nil
        grantedPerSecond = status.perSecond > 0 || status.grantedPerSecond > 0 ? status.grantedPerSecond : nil
        grantedConcurrency = status.grantedConcurrency
        workers = status.workers
        blockedSeconds = Double(status.blockedMs) / 1000
        requests = status.requests
        throttled = status.throttled
        failed = status.failed
        factor = status.factor
    }

    package var limit: String { Self.text(perSecond, concurrency) }
    package var operatorText: String { Self.text(operatorPerSecond, operatorConcurrency) }
    package var accepts: String { Self.text(acceptsPerSecond, acceptsConcurrency) }
    package var granted: String { grantedConcurrency == 0 ? "-" : Self.text(grantedPerSecond, grantedConcurrency) }

    private static func text(_ rate: Double?, _ connections: UInt32?) -> String {
        let parts = [rate.map { "\(Units.decimal($0, places: 1))/s" }, connections.map { "\($0) connections" }]
        return parts.allSatisfy { $0 == nil } ? "-" : parts.compactMap(\.self).joined(separator: ", ")
    }
}
