import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
internal import TextFormats
import Wire

/// `packhorse failed`: failed work.
struct FailedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failed", abstract: "List, show, retry or drop permanently failed batches and tiles.",
        discussion: """
            Examples:
              packhorse failed list
              packhorse failed show 3 17
              packhorse failed retry 3
            """,
        subcommands: [List.self, Show.self, Retry.self, Drop.self])

    /// `packhorse failed list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List batches that failed completely or in some of their tiles.",
            discussion: "Example: packhorse failed list 3")
        @Argument(help: "The job's number. Default: all jobs.") var job: UInt64 = 0
        @Option(help: "Maximum number of entries.") var limit: UInt32 = 100
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var cluster: ClusterOptions

        func run() async throws {
            let (entries, more) = try await cluster.withClient {
                try await FailedPages.read($0, job: job, limit: limit)
            }
            if json { return Console.result(try JSONText.pretty(entries)) }
            var table = Table("job", "batch", "cell", "zoom", "tiles", "attempts", "cause", "detail")
            for entry in entries {
                table.add(
                    "\(entry.job)", "\(entry.batch)", entry.cell.text, entry.zooms, Units.count(entry.tiles),
                    "\(entry.attempts + entry.losses)", entry.cause, String(entry.detail.prefix(60)))
            }
            Console.result(table, lessNeeded: ["attempts", "zoom", "tiles"])
            if more { Console.note("there are more; give a job, or raise --limit") }
        }
    }

    /// `packhorse failed show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the failed work of a job, or of one of its batches, with the tiles.",
            discussion: "Example: packhorse failed show 3 17")
        @Argument(help: "The job's number.") var job: UInt64
        @Argument(help: "The batch's number. Default: all failed batches.") var batch: UInt64?
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var cluster: ClusterOptions

        func run() async throws {
            let entries = try await cluster.withClient { client in
                guard let batch else { return try await FailedPages.read(client, job: job, limit: 1_000).entries }
                return try await FailedPages.one(client, job: job, batch: batch)
            }
            if json { return Console.result(try JSONText.pretty(entries)) }
            if entries.isEmpty { Console.note("job \(job) has no failed work") }
            for entry in entries { entry.lines.forEach(Console.result) }
        }
    }

    /// `packhorse failed retry`.
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Retry failed work; a failed job resumes.",
            discussion: """
                Fetched tiles are not fetched again.

                Example: packhorse failed retry 3 17 18
                """)
        @OptionGroup var options: FailedOrderOptions

        func run() async throws { try await options.send("requeue") }
    }

    /// `packhorse failed drop`.
    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Never retry failed work: its tiles stay missing.",
            discussion: """
                The tiles stay in the job's report. Without batch numbers a failed job also releases all its fetched tiles: a retry
                starts from the beginning.

                Example: packhorse failed drop 3
                """)
        @OptionGroup var options: FailedOrderOptions

        func run() async throws { try await options.send("drop") }
    }
}

/// The failed work that an order is for.
struct FailedOrderOptions: ParsableArguments {
    @Argument(help: "The job's number.") var job: UInt64
    @Argument(help: "Batch numbers. Default: all failed batches.") var batches: [UInt64] = []
    @Flag(help: "Print the result as JSON.") var json = false
    @OptionGroup var cluster: ClusterOptions

    func send(_ order: String) async throws {
        let answer = try await cluster.withClient { client in
            try await Patience.outlast([.later]) { try await client.orderFailed(job, order, batches: batches) }
        }
        try OrderedView(answer).show(asJSON: json)
    }
}

/// Reads failed work page by page.
private enum FailedPages {
    /// At most `limit` entries, and whether there are more.
    static func read(_ client: ControlClient, job: UInt64, limit: UInt32) async throws -> (
        entries: [PBFailedBatch], more: Bool
    ) {
        var entries: [PBFailedBatch] = []
        var after: UInt64 = 0
        while entries.count < Int(limit) {
            let page = try await client.failedWork(
                .make {
                    $0.job = job
                    $0.limit = min(limit - UInt32(entries.count), 200)
                    $0.after = after
                })
            entries += page.batches
            guard page.more, let last = page.batches.last else { return (entries, false) }
            after = position(job: last.job, batch: last.batch)
        }
        return (entries, true)
    }

    /// The entry of one batch.
    static func one(_ client: ControlClient, job: UInt64, batch: UInt64) async throws -> [PBFailedBatch] {
        let page = try await client.failedWork(
            .make {
                $0.job = job
                $0.limit = 1
                $0.after = batch == 0 ? 0 : position(job: job, batch: batch - 1)
            })
        guard let entry = page.batches.first, entry.batch == batch else {
            throw CLIError(
                .noInput, "batch \(batch) of job \(job) has not failed",
                hint: "packhorse failed list \(job) lists the failed batches")
        }
        return [entry]
    }

    /// The position after an entry.
    private static func position(job: UInt64, batch: UInt64) -> UInt64 { job << 32 | (batch + 1) & 0xFFFF_FFFF }
}
