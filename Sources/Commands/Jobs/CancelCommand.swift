import ArgumentParser

/// `packhorse cancel`: stops a job.
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop a job; packages already published stay.",
        discussion: "Example: packhorse cancel 1")

    @Argument(help: "The job's number.") var job: UInt64
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        try await cluster.withClient { try await $0.cancel(job) }
        Console.note("job \(job) is cancelled")
    }
}
