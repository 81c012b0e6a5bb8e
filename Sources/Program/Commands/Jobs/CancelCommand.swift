import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Wire

/// `packhorse cancel`: stops a job.
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop a job; packages already published stay.",
        discussion: "Example: packhorse cancel 1")

    @Argument(help: "The job's number.") var job: UInt64
    @Flag(help: "Print the result as JSON.") var json = false
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let view = try await cluster.withClient { client in
            try await client.cancel(job)
            return try await client.job(job, failures: 0)
        }
        if json { return Console.result(try JSONText.pretty(view)) }
        Console.note(
            view.state == "cancelled" || !view.isOver
                ? "job \(job) is cancelled" : "job \(job) had ended already: \(view.state)")
    }
}
