import ArgumentParser
internal import ClusterClient
internal import CommandSupport

/// `packhorse status`: the state of one job.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of a job: tiles, packages, failures.",
        discussion: "Example: packhorse status 1 --json")

    @Argument(help: "The job's number.") var job: UInt64
    @Flag(help: "Print the result as JSON.") var json = false
    @Flag(help: "List every package and every failed tile, one per line.") var all = false
    @Option(help: "Maximum number of failed tiles. Default: 100, with --all 10,000.") var failures: UInt32?
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        try await cluster.withClient { client in
            let view = try await client.job(job, failures: failures ?? (all ? 10_000 : 100))
            if json {
                Console.result(try JSONText.pretty(view))
            } else {
                JobReport.lines(view, all: all).forEach(Console.result)
            }
        }
    }
}
