import ArgumentParser
import Tilesets
import Wire

/// `packhorse submit`: asks the coordinator to build packages.
struct SubmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Build packages of countries, a box, a GeoJSON shape or points of interest.",
        discussion: """
            Prints the job number. Each area becomes one package in the coordinator's catalog. While a job of the very same packages,
            tileset and zooms is unfinished, submitting it again joins that job, unless --request-id names another.

            Examples:
              packhorse submit EE --tileset tiles.yaml --wait
              packhorse submit "bbox(24.5,59.3,25.0,59.5)" --tileset tiles.yaml --zoom 0-12
              packhorse submit --geojson park.geojson --tileset https://tiles.example.com/tiles.json
              packhorse submit --points huts.csv --radius 2km --tileset mbtiles:planet.mbtiles
              packhorse submit EU --recursive --tileset tiles.yaml --dry-run
              packhorse submit --catalog packages.yaml --tileset tiles.yaml
            """)

    @OptionGroup var submission: SubmitOptions
    @OptionGroup var cluster: ClusterOptions

    @Flag(help: "Stay until the job has ended; the exit code then tells how.")
    var wait = false

    @Flag(help: "Say what would be built, then stop.")
    var dryRun = false

    @Option(help: ArgumentHelp("Wait until this job is done; fails when it fails. May be repeated.", valueName: "job"))
    var after: [UInt64] = []

    @Option(help: "A name of your choice that makes repeating this submission safe: the first job is returned.")
    var requestID: String?

    @OptionGroup var progress: ProgressOptions

    func run() async throws {
        let draft = try await submission.draft()
        let request = try draft.request(
            submission.policy(requestID: requestID ?? "", dryRun: dryRun, after: after))
        try await cluster.withClient { client in
            let submitted = try await client.submit(request)
            if progress.json, dryRun || !wait {
                Console.result(try JSONText.pretty(SubmissionView(submitted, draft, isDryRun: dryRun)))
                return
            }
            if dryRun {
                for line in Self.forecast(submitted, draft) { Console.result(line) }
                return
            }
            if submitted.existing { try await checkSame(draft, submitted.job, client) }
            guard wait else {
                Console.result("\(submitted.job)")
                Console.note("\(Units.count(submitted.tiles)) tiles; follow with: packhorse watch \(submitted.job)")
                return
            }
            try await JobWatcher(client: client, style: progress.style).finish(submitted.job)
        }
    }

    /// What would be built, and what the overlap of the packages saves.
    private static func forecast(_ submitted: PBSubmitted, _ draft: JobDraft) -> [String] {
        let batches = "\(Units.count(submitted.batches)) batches; nothing was submitted"
        guard draft.packages.count > 1 else { return ["\(Units.count(submitted.tiles)) tiles in \(batches)"] }
        let all = draft.packageTiles
        let saved = all - min(submitted.tiles, all)
        let share = Int((Double(saved) / Double(max(all, 1)) * 100).rounded())
        return [
            "\(Units.count(draft.packages.count, of: "package")) of \(Units.count(all)) tiles together,"
                + " \(Units.count(submitted.tiles)) of them different: fetching each once saves"
                + " \(Units.count(saved)) (\(share) %)",
            "\(Units.count(submitted.tiles)) tiles in \(batches)",
        ]
    }

    /// A request id names one submission: another one under it is a mistake.
    private func checkSame(_ draft: JobDraft, _ number: UInt64, _ client: ControlClient) async throws {
        guard requestID != nil else {
            Console.note("job \(number) makes the very same packages and has not ended: joined it")
            return
        }
        let job = JobView(try await client.job(number, failures: 0))
        guard job.label == draft.label, job.tileset == draft.tileset.id, job.zooms == "\(draft.zooms)" else {
            throw CLIError(
                .usage,
                "request id '\(requestID ?? "")' belongs to job \(number), \(job.label) of \(job.tileset) at zoom \(job.zooms)",
                hint: "use another --request-id for another job")
        }
        Console.note("already submitted under this request id")
    }
}

/// An accepted submission as printed.
private struct SubmissionView: Encodable {
    let job: UInt64?
    let tiles: UInt64
    let batches: UInt64
    let existing: Bool
    let packages: Int
    /// Counted in each package; above `tiles` by what they share.
    let packageTiles: UInt64

    init(_ submitted: PBSubmitted, _ draft: JobDraft, isDryRun: Bool) {
        packages = draft.packages.count
        packageTiles = draft.packageTiles
        job = isDryRun ? nil : submitted.job
        tiles = submitted.tiles
        batches = submitted.batches
        existing = submitted.existing
    }
}
