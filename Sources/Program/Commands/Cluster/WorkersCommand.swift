import ArgumentParser
internal import ClusterClient
internal import CommandSupport
internal import TextFormats
import Wire

/// `packhorse workers`: the connected workers, and requests to leave.
struct WorkersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers", abstract: "List the connected workers, or ask workers to leave.",
        discussion: """
            Examples:
              packhorse workers --json
              packhorse workers drain berlin-1 berlin-2
            """,
        subcommands: [WorkersListCommand.self, WorkersDrainCommand.self], defaultSubcommand: WorkersListCommand.self)
}

/// `packhorse workers list`.
struct WorkersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the connected workers.", discussion: "Example: packhorse workers --json")

    @Flag(help: "Print the result as JSON.") var json = false
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let workers = try await cluster.withClient { try await $0.workers() }
        if json {
            Console.result(try JSONText.pretty(workers))
            return
        }
        var table = Table("worker", "host", "pid", "state", "leases", "tiles", "bytes", "silent", "labels", "build")
        for worker in workers {
            table.add(
                worker.name, worker.host, "\(worker.pid)",
                worker.reason.isEmpty ? worker.state : "\(worker.state): \(worker.reason)",
                "\(worker.leases)", Units.count(worker.tiles), Units.bytes(worker.bytes),
                "\(Units.decimal(Double(worker.silentMs) / 1000, places: 1)) s", worker.labels.joined(separator: ","),
                worker.build)
        }
        Console.result(table, lessNeeded: ["build", "labels", "pid", "bytes", "host", "tiles"])
    }
}
