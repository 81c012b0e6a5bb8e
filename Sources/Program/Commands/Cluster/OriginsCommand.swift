import ArgumentParser
internal import ClusterClient
internal import CommandSupport
internal import TextFormats
import Wire

/// `packhorse origins`: the servers that the cluster fetches from.
struct OriginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "origins", abstract: "List the tile servers in use, open a blocked one, or limit one.",
        discussion: """
            Examples:
              packhorse origins --json
              packhorse origins open tiles.example.com
              packhorse origins limit tiles.example.com --requests-per-second 20
            """,
        subcommands: [OriginsListCommand.self, OriginsOpenCommand.self, OriginsLimitCommand.self],
        defaultSubcommand: OriginsListCommand.self)
}

/// `packhorse origins ls`.
struct OriginsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List the tile servers in use, their limits, and how many workers use them.",
        discussion: """
            Rates and numbers of connections are for the whole cluster. States: open; slowed (it accepts less than the \
            limits: see the column 'accepts'); blocked (it sent Retry-After); broken (it does not answer); probing (one \
            request tests whether it is back); learning (the coordinator restarted, old shares expire); unused (no \
            unfinished job needs it, an operator has limited it).
            Example: packhorse origins --json
            """)

    @Flag(help: "Print the result as JSON.") var json = false
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let origins = try await cluster.withClient { try await $0.origins() }.map(OriginReport.init)
        if json {
            Console.result(try JSONText.pretty(origins))
            return
        }
        var table = Table(
            "origin", "state", "limit", "operator", "accepts", "granted", "workers", "requests", "throttled", "failed",
            "blocked for")
        for origin in origins {
            table.add(
                origin.origin, origin.state, origin.limit, origin.operatorText, origin.accepts, origin.granted,
                "\(origin.workers)",
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
    let concurrency: UInt32?
    let operatorPerSecond: Double?
    let operatorConcurrency: UInt32?
    let acceptsPerSecond: Double?
    let acceptsConcurrency: UInt32?
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

    var limit: String { Self.text(perSecond, concurrency) }
    var operatorText: String { Self.text(operatorPerSecond, operatorConcurrency) }
    var accepts: String { Self.text(acceptsPerSecond, acceptsConcurrency) }
    var granted: String { grantedConcurrency == 0 ? "-" : Self.text(grantedPerSecond, grantedConcurrency) }

    private static func text(_ rate: Double?, _ connections: UInt32?) -> String {
        let parts = [rate.map { "\(Units.decimal($0, places: 1))/s" }, connections.map { "\($0) connections" }]
        return parts.allSatisfy { $0 == nil } ? "-" : parts.compactMap(\.self).joined(separator: ", ")
    }
}
