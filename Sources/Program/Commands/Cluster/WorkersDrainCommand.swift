import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Wire

/// `packhorse workers drain`: lets workers finish their work and leave.
struct WorkersDrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Let workers finish their leases and end with exit code 0.",
        discussion: """
            A draining worker gets no more work, returns leases that it has not started, finishes running ones, and ends. Until then it can
            be kept with --undo. No attempt is lost. SIGTERM is faster: it returns everything within ten seconds.
            If a supervisor restarts the worker, the new one is not draining.
            Examples:
              packhorse workers drain berlin-1 4711@berlin
              packhorse workers drain berlin-1 --undo
            """)

    @Argument(help: ArgumentHelp("Workers, by name or as pid@host.", valueName: "worker")) var names: [String]
    @Flag(help: "Cancel the request for a worker that has not ended.") var undo = false
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        try await cluster.withClient { client in
            for name in names {
                let answer = try await client.drain(name, undo: undo)
                Console.result("\(name): \(answer.text)\(answer.changed > 1 ? " (\(answer.changed) workers)" : "")")
            }
        }
    }
}
