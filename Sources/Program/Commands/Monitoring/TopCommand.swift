import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats
import Wire

/// `packhorse top`: jobs, workers and origins, live.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Show a live table of jobs, workers and origins; stop it with Ctrl-C.",
        discussion: """
            Examples:
              packhorse top
              packhorse top --once
            """)

    @Flag(help: "Print it once and stop.") var once = false
    @Option(help: "Update interval in seconds.") var every: Double = 1
    @OptionGroup var cluster: ClusterOptions

    func validate() throws {
        guard (0.2...3_600).contains(every) else {
            throw ValidationError("--every must be between 0.2 and 3,600 seconds.")
        }
    }

    func run() async throws {
        try await cluster.withClient { client in
            do {
                try await Interruptible.run { try await show(client) }
            } catch let error as CLIError where error.status == .interrupted {
                // Ctrl-C is the normal end of a live table.
            }
        }
    }

    private func fetchState(
        _ client: ControlClient
    ) async throws -> (jobs: [PBJobStatus], health: PBHealth, workers: [PBWorkerStatus]) {
        (try await client.jobs(limit: 200).reversed(), try await client.health(), try await client.workers())
    }

    private func show(_ client: ControlClient) async throws {
        var meters: [UInt64: RateMeter] = [:]
        let clock = ContinuousClock()
        let start = clock.now
        var isFirst = true
        while true {
            let elapsed = (clock.now - start).seconds
            let (jobs, health, workers) =
                once || isFirst
                ? try await fetchState(client) : try await Patience.outlast { try await fetchState(client) }
            isFirst = false
            let open = jobs.filter { !$0.isOver }
            meters = meters.filter { entry in open.contains { $0.job == entry.key } }
            for job in open { meters[job.job, default: RateMeter()].add(done: job.settled, at: elapsed) }
            let screen = TopScreen(health: health, jobs: jobs, meters: meters, workers: workers)
            guard !once else {
                screen.lines(height: .max).forEach(Console.result)
                return
            }
            Console.screen(screen.lines(height: Console.height))
            try await Task.sleep(for: .seconds(every))
        }
    }
}
