import ArgumentParser
import Wire

/// `packhorse origins`: how the cluster treats the servers it fetches from.
struct OriginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "origins", abstract: "List the tile servers in use, their limits, and who may ask them now.",
        discussion: """
            A rate or a number of connections counts for the whole cluster. States: open; slowed (it throttled, the limits are \
            cut); blocked (it said Retry-After); broken (it does not answer); probing (one request tries whether it is back); \
            learning (the coordinator restarted, old shares run out).
            Example: packhorse origins --json
            """)

    @Flag(help: "The result as JSON.") var json = false
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let origins = try await cluster.withClient { try await $0.origins() }.map(OriginReport.init)
        if json {
            Console.result(try JSONText.pretty(origins))
            return
        }
        var table = Table(
            "origin", "state", "limit", "granted", "workers", "requests", "throttled", "failed", "blocked for")
        for origin in origins {
            table.add(
                origin.origin, origin.state, origin.limit, origin.granted, "\(origin.workers)",
                Units.count(origin.requests), Units.count(origin.throttled), Units.count(origin.failed),
                origin.blockedSeconds > 0 ? "\(Units.decimal(origin.blockedSeconds, places: 1)) s" : "-")
        }
        table.lines.forEach(Console.result)
    }
}

/// An origin as printed.
private struct OriginReport: Encodable {
    let origin: String
    let state: String
    let perSecond: Double?
    let concurrency: UInt32
    let grantedPerSecond: Double?
    let grantedConcurrency: UInt32
    let workers: UInt32
    let blockedSeconds: Double
    let requests: UInt64
    let throttled: UInt64
    let failed: UInt64
    let factor: Double

    init(_ status: PBOriginStatus) {
        origin = status.origin
        state = status.state
        perSecond = status.perSecond > 0 ? status.perSecond : nil
        concurrency = status.concurrency
        grantedPerSecond = status.perSecond > 0 || status.grantedPerSecond > 0 ? status.grantedPerSecond : nil
        grantedConcurrency = status.grantedConcurrency
        workers = status.workers
        blockedSeconds = Double(status.blockedMs) / 1000
        requests = status.requests
        throttled = status.throttled
        failed = status.failed
        factor = status.factor
    }

    var limit: String { Self.text(perSecond, concurrency) }
    var granted: String { grantedConcurrency == 0 ? "-" : Self.text(grantedPerSecond, grantedConcurrency) }

    private static func text(_ rate: Double?, _ connections: UInt32) -> String {
        let rate = rate.map { "\(Units.decimal($0, places: 1))/s, " } ?? ""
        return "\(rate)\(connections) at once"
    }
}
