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
        let origins = try await cluster.withClient { try await $0.origins() }
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
                origin.blockedMs > 0 ? "\(Units.decimal(Double(origin.blockedMs) / 1000, places: 1)) s" : "-")
        }
        Console.result(
            table, lessNeeded: ["operator", "requests", "workers", "throttled", "accepts", "failed", "granted"])
    }
}
