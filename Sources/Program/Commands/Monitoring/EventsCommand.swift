import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Foundation
import Wire

/// `packhorse events`: the append-only log of all changes.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Show the log of changes, oldest first, and follow it.",
        discussion: """
            Every change of the coordinator's state is one line. Replaying the lines gives the state (see packhorse state check).
            Lines about forgotten jobs are removed from the log.

            Examples:
              packhorse events --job 3
              packhorse events --follow --json
              packhorse events --after 1500 --follow
            """)

    @Option(help: "The first lines after this number. Default: the newest lines.") var after: UInt64?
    @Option(help: "Only lines of this job.") var job: UInt64?
    @Option(help: "Maximum number of lines before following.") var limit: UInt32 = 100
    @Flag(name: .shortAndLong, help: "Print new lines until interrupted.") var follow = false
    @Flag(help: "Print one JSON object per line, with the change in base64.") var json = false
    @OptionGroup var cluster: ClusterOptions

    func validate() throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit must be between 1 and 100,000.") }
    }

    func run() async throws {
        try await cluster.withClient { client in
            try await Interruptible.run { try await show(client) }
        }
    }

    private func show(_ client: ControlClient) async throws {
        // An unknown job never gets lines.
        if let job { _ = try await client.job(job, failures: 0) }
        let job = job ?? 0
        var seen = after ?? 0
        var left = limit
        // Numbers of lines have gaps, so only the coordinator knows where the newest lines begin.
        var newest = after == nil ? limit : 0
        while left > 0 {
            let events = try await client.events(after: seen, newest: newest, limit: min(left, 1_000), job: job)
            newest = 0
            guard let last = events.events.last else {
                seen = max(seen, after == nil ? events.last : 0)
                break
            }
            try events.events.forEach(write)
            left -= min(left, UInt32(clamping: events.events.count))
            seen = last.seq
        }
        while follow {
            let after = seen
            let events = try await Patience.outlast {
                try await client.events(after: after, limit: 1_000, wait: .seconds(20), job: job)
            }
            try events.events.forEach(write)
            seen = events.events.last?.seq ?? seen
        }
    }

    private func write(_ event: PBEventRecord) throws {
        Console.result(json ? try JSONText.line(event) : "\(event.seq)  \(event.time)  \(event.text)")
    }
}
