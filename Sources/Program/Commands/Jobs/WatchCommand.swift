import ArgumentParser
internal import CommandSupport

/// `packhorse watch`: follows a job until it ends.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follow a job until it ends; the exit code gives the result.",
        discussion: "Example: packhorse watch 1")

    @Argument(help: "The job's number.") var job: UInt64
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        try await cluster.withClient { client in
            try await JobWatcher(client: client, style: progress.style).finish(job)
        }
    }
}
