import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
import Notifications

/// `packhorse watch`: follows a job until it ends.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follow a job until it ends; the exit code gives the result.",
        discussion: """
            --exec runs a command through /bin/sh for each published package and for the end of the job, one at a time, in
            order, also for events before the start of this command. It gets the event as JSON on standard input, and as
            PACKHORSE_EVENT, PACKHORSE_JOB, PACKHORSE_STATE, PACKHORSE_CATALOG, PACKHORSE_PACKAGE, PACKHORSE_VERSION, PACKHORSE_FILE,
            PACKHORSE_URL.
            A command that fails does not end the watch; when the job is done, the exit code is then 75.
            Examples:
              packhorse watch 1
              packhorse watch 1 --exec 'cp "$PACKHORSE_FILE" /srv/maps/' --exec-on package-published
            """)

    @Argument(help: "The job's number.") var job: UInt64
    @Option(help: ArgumentHelp("Run this command for events of the job.", valueName: "command")) var exec: String?
    @Option(
        help: ArgumentHelp(
            "Kinds of events for --exec, separated by commas: job-done, job-failed, job-cancelled, package-published, step-failed. Default: all.",
            valueName: "kinds"))
    var execOn: String?
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var cluster: ClusterOptions

    func validate() throws {
        guard exec != nil || execOn == nil else { throw ValidationError("--exec-on needs --exec.") }
    }

    func run() async throws {
        let kinds = try execOn.map { try NotificationKind.set($0) } ?? Set(NotificationKind.allCases)
        try await cluster.withClient { client in
            let watcher = JobWatcher(client: client, style: progress.style)
            guard let exec else { return try await watcher.finish(job) }
            // A client handles one request at a time.
            try await cluster.withClient { second in
                let runner = JobCommandRunner(job: job, command: exec, kinds: kinds, client: second)
                try await watch(watcher, runner)
            }
        }
    }

    /// Follows the job while commands run, then waits for the last command.
    ///
    /// Ctrl-C ends both.
    private func watch(_ watcher: JobWatcher, _ runner: JobCommandRunner) async throws {
        let commands = Task { try await runner.run() }
        var failure: (any Error)?
        do { try await watcher.finish(job) } catch { failure = error }
        // Only a job that has ended has a last event.
        if let error = failure, (error as? CLIError)?.status != .badData {
            commands.cancel()
            _ = await commands.result
            throw error
        }
        runner.end()
        try await Interruptible.run {
            try await withTaskCancellationHandler {
                try await commands.value
            } onCancel: {
                commands.cancel()
            }
        }
        if let failure { throw failure }
        let codes = runner.failures
        guard let last = codes.last else { return }
        throw CLIError(
            .temporary, "job \(job) is done, but \(codes.count) of its commands failed, the last one with \(last)",
            hint: "to run the commands again: \(ShellText.thisCommand)")
    }
}
