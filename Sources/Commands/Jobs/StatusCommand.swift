import ArgumentParser

/// `packhorse status`: how one job stands.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "How a job stands: tiles, packages, failures.",
        discussion: "Example: packhorse status 1 --json")

    @Argument(help: "The job's number.") var job: UInt64
    @Flag(help: "The result as JSON.") var json = false
    @Flag(help: "List every package and every failed tile, one a line.") var all = false
    @Option(help: "At most this many failed tiles are asked for. Default: 100, with --all 10,000.") var failures:
        UInt32?
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        try await cluster.withClient { client in
            let view = JobView(try await client.job(job, failures: failures ?? (all ? 10_000 : 100)))
            if json {
                Console.result(try JSONText.pretty(view))
            } else {
                JobReport.lines(view, all: all).forEach(Console.result)
            }
        }
    }
}
