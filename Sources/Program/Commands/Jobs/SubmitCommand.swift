import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Packages
internal import TextFormats
import Tilesets
import Wire

/// `packhorse submit`: asks the coordinator to build packages.
struct SubmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Build packages of countries, a box, a GeoJSON shape or points of interest.",
        discussion: """
            Prints the job number. Each area becomes one package in the coordinator's catalog. While a job with exactly the same packages,
            tileset and zooms is unfinished, submitting it again returns that job, unless --request-id is different.

            Examples:
              packhorse submit EE --tileset tiles.yaml --wait
              packhorse submit "bbox(24.5,59.3,25.0,59.5)" --tileset tiles.yaml --zoom 0-12
              packhorse submit --geojson park.geojson --tileset https://tiles.example.com/tiles.json
              packhorse submit --points huts.csv --radius 2km --tileset mbtiles:planet.mbtiles
              packhorse submit EU --recursive --tileset tiles.yaml --dry-run
              packhorse submit --packages packages.yaml --tileset tiles.yaml
              packhorse submit EE --tileset tiles.yaml --format pmtiles,carto --wait
              packhorse submit EE --tileset tiles.yaml --format maplibre --style https://tiles.example.com/style.json
              packhorse submit EE --tileset tiles.yaml --language en,de,et --group streets
              packhorse submit EE --tileset tiles.yaml --changed expired.txt --wait
              packhorse submit EE --tileset tiles.yaml --on gpu-free
            """)

    @OptionGroup var submission: SubmitOptions
    @OptionGroup var labels: LabelOptions
    @OptionGroup var changed: ChangedOptions
    @OptionGroup var cluster: ClusterOptions

    @Flag(help: "Wait until the job has ended; the exit code gives the result.")
    var wait = false

    @Flag(help: "Show what would be built, then stop.")
    var dryRun = false

    @Flag(help: "With --wait: submit again if the archive is replaced while the job reads it.")
    var restartOnChange = false

    @Option(help: ArgumentHelp("Start after this job is done; fail if it fails. May be repeated.", valueName: "job"))
    var after: [UInt64] = []

    @Option(help: "A name of your choice. Repeating a submission with the same name returns the first job.")
    var requestID: String?

    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        guard !restartOnChange || wait else { throw ValidationError("--restart-on-change needs --wait.") }
        guard !restartOnChange || requestID == nil else {
            throw ValidationError("--request-id is for one job; omit it or --restart-on-change.")
        }
    }

    func run() async throws {
        try await ChangedSource.again(restartOnChange) { _ in try await submit() }
    }

    private func submit() async throws {
        let drafts = try changed.filled(try await submission.drafts())
        let requests = drafts.map { draft in
            // Each language is a separate job, and so a separate request.
            let suffix = drafts.count > 1 ? "-\(draft.publish.edition.language)" : ""
            return draft.request(
                submission.policy(
                    requestID: requestID.map { $0 + suffix } ?? "", dryRun: dryRun, after: after, labels: labels.on))
        }
        try await cluster.withClient { client in
            if requests.count > 1, !dryRun { try await Self.dryRun(requests, client) }
            var answers: [(draft: JobDraft, submitted: PBSubmitted)] = []
            for (draft, request) in zip(drafts, requests) {
                let submitted = try await client.submit(request)
                answers.append((draft, submitted))
                for warning in draft.warnings + submitted.warnings { Console.warning(warning) }
                if submitted.existing, !dryRun { try await tellOfExisting(submitted.job, client) }
            }
            if progress.json, dryRun || !wait {
                let views = answers.map { SubmissionView($1, $0, isDryRun: dryRun) }
                Console.result(try views.count == 1 ? JSONText.pretty(views[0]) : JSONText.pretty(views))
                return
            }
            for (draft, submitted) in answers where dryRun || !wait { printResult(submitted, of: draft) }
            guard wait, !dryRun else { return }
            try await JobWatcher(client: client, style: progress.style).finish(answers.map(\.submitted.job))
        }
    }

    /// Asks for each job whether it would be accepted, so that a refused one leaves no jobs of the others.
    static func dryRun(_ requests: [PBSubmit], _ client: ControlClient) async throws {
        for var request in requests {
            request.dryRun = true
            _ = try await client.submit(request)
        }
    }

    private func printResult(_ submitted: PBSubmitted, of draft: JobDraft) {
        if dryRun { return Self.forecast(submitted, draft).forEach(Console.result) }
        Console.result("\(submitted.job)")
        Console.note("\(Units.count(submitted.tiles, of: "tile")); follow with: packhorse watch \(submitted.job)")
    }

    /// What would be built, and what is saved because packages overlap.
    static func forecast(_ submitted: PBSubmitted, _ draft: JobDraft) -> [String] {
        let batches = "\(Units.count(submitted.batches, of: "batch")); nothing was submitted"
        var lines: [String] = []
        if draft.isUnusual {
            lines.append(
                "\(draft.label): \(draft.allFormats.map(\.rawValue).joined(separator: ", "))"
                    + (draft.publish.edition.isRoot ? "" : ", in the edition \(draft.publish.edition.label)")
                    + (draft.publish.catalog.isEmpty ? "" : ", in the catalog '\(draft.publish.catalog)'"))
        }
        guard draft.packages.count > 1 else {
            return lines + ["\(Units.count(submitted.tiles, of: "tile")) in \(batches)"]
        }
        let all = draft.packageTiles
        let saved = all - min(submitted.tiles, all)
        let share = Int((Double(saved) / Double(max(all, 1)) * 100).rounded())
        return lines + [
            "\(Units.count(draft.packages.count, of: "package")) of \(Units.count(all)) tiles in total,"
                + " \(Units.count(submitted.tiles)) of them different; fetching each once saves"
                + " \(Units.count(saved)) (\(share) %)",
            "\(Units.count(submitted.tiles, of: "tile")) in \(batches)",
        ]
    }

    /// Reports that the job existed already, and which options of this submission do not apply to it.
    private func tellOfExisting(_ number: UInt64, _ client: ControlClient) async throws {
        guard requestID == nil else { return Console.note("already submitted under this request id") }
        Console.note("job \(number) makes exactly the same packages and has not ended; it is used")
        let job = try await client.job(number, failures: 0)
        if job.priority < 0 {
            Console.note("it is paused; continue it with: packhorse resume \(number)")
        } else if submission.priority < 0 {
            Console.note("it continues; stop it with: packhorse pause \(number)")
        } else if submission.priority != 0, submission.priority != job.priority {
            Console.note(
                "it keeps its priority, \(job.priority); change it with: packhorse priority \(number) \(submission.priority)"
            )
        }
        if submission.weight > 1, submission.weight != job.weight {
            Console.note(
                "it keeps its weight, \(job.weight); change it with: packhorse weight \(number) \(submission.weight)")
        }
    }
}

/// An accepted submission as printed.
private struct SubmissionView: Encodable {
    let job: UInt64?
    let tiles: UInt64
    let batches: UInt64
    let existing: Bool
    let packages: Int
    /// The sum over the packages; larger than `tiles` when packages share tiles.
    let packageTiles: UInt64
    let formats: [String]
    let label: String
    let warnings: [String]

    init(_ submitted: PBSubmitted, _ draft: JobDraft, isDryRun: Bool) {
        packages = draft.packages.count
        packageTiles = draft.packageTiles
        formats = draft.allFormats.map(\.rawValue)
        label = draft.label
        warnings = draft.warnings + submitted.warnings
        job = isDryRun ? nil : submitted.job
        tiles = submitted.tiles
        batches = submitted.batches
        existing = submitted.existing
    }
}
