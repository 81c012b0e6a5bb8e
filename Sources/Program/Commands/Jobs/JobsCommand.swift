import ArgumentParser
internal import ClusterClient
internal import CommandSupport
internal import TextFormats
import Wire

/// `packhorse jobs`: the list of jobs.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "List jobs, newest first.",
        discussion: """
            The coordinator keeps the summaries of the last 100,000 jobs, and packages, batches and failed tiles of the last 1,000 that
            ended. Times are UTC; started is the time of the first lease.

            Examples:
              packhorse jobs --limit 5
              packhorse jobs --state failed,cancelled --since 7d
              packhorse jobs --label Estonia --since 2026-10-01 --json
              packhorse jobs --limit 1000 --before 41000
            """)

    /// The accepted values of `--state`.
    private static let states = ["fetching", "merging", "publishing", "done", "failed", "cancelled", "paused"]

    @Option(help: "Maximum number of jobs.") var limit: UInt32 = 50
    @Option(help: ArgumentHelp("Only jobs older than this one.", valueName: "job")) var before: UInt64?
    @Option(
        help: ArgumentHelp(
            "Only jobs in these states: fetching, merging, publishing, done, failed, cancelled, paused. Comma-separated or repeated.",
            valueName: "states"))
    var state: [String] = []
    @Option(help: ArgumentHelp("Only jobs whose label contains this text, ignoring case.", valueName: "text"))
    var label: String?
    @Option(
        help: ArgumentHelp(
            "Only jobs submitted since this time: 2026-10-01, 2026-10-01T12:00:00Z, or a duration ago: 90min, 36h, 7d.",
            valueName: "time"))
    var since: String?
    @Flag(help: "Print the result as JSON.") var json = false
    @Flag(name: .shortAndLong, help: "Print only job numbers.") var quiet = false
    @OptionGroup var cluster: ClusterOptions

    func validate() throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit must be between 1 and 100,000.") }
        guard before != 0 else { throw ValidationError("--before must be a job's number, at least 1.") }
        guard !json || !quiet else {
            throw ValidationError("--quiet prints job numbers, not JSON; use either --quiet or --json.")
        }
        if let wrong = wantedStates.first(where: { !Self.states.contains($0) }) {
            throw ValidationError(
                "'\(wrong)' is not a state of a job. The states are \(Self.states.joined(separator: ", ")).")
        }
        guard label.map({ (1...200).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--label must have 1 to 200 bytes.")
        }
        guard since.map({ WallTime.parse($0, now: WallTime.now) != nil }) ?? true else {
            throw ValidationError(
                "'\(since ?? "")' is not a time: write 2026-10-01, 2026-10-01T12:00:00Z, 90min, 36h or 7d.")
        }
    }

    private var wantedStates: [String] {
        Set(state.flatMap { $0.split(separator: ",").map { String($0.trimmingPrefix(" ")) } }).sorted()
    }

    private var question: PBListJobs {
        .make {
            $0.before = before ?? 0
            $0.states = wantedStates
            $0.label = label ?? ""
            $0.sinceMs = since.flatMap { WallTime.parse($0, now: WallTime.now) } ?? 0
        }
    }

    func run() async throws {
        let (jobs, next) = try await cluster.withClient { try await $0.jobs(question, limit: Int(limit)) }
        if json { return Console.result(try JSONText.pretty(jobs)) }
        if quiet {
            for job in jobs { Console.result("\(job.job)") }
            return
        }
        Console.result(
            Self.table(jobs, now: WallTime.now),
            lessNeeded: ["formats", "started", "submitted", "size", "failed", "tiles", "ended"])
        if next != 0 { Console.note("there are older jobs; use --before \(next), or a larger --limit") }
    }

    private static func table(_ jobs: [PBJobStatus], now: Int64) -> Table {
        var table = Table(
            "job", "state", "submitted", "started", "ended", "done", "tiles", "failed", "size", "formats", "label")
        for job in jobs {
            table.add(
                "\(job.job)", job.state + (job.waiting.isEmpty ? "" : " (\(job.waiting))"),
                WallTime.short(job.submittedMs, now: now), WallTime.short(job.startedMs, now: now),
                WallTime.short(job.endedMs, now: now), "\(Int(job.fraction * 100)) %", Units.count(job.tiles),
                Units.count(job.failed), Units.bytes(job.bytes), job.allFormats.joined(separator: ","), job.label)
        }
        return table
    }
}
