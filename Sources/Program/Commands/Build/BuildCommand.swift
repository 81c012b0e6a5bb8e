import ArgumentParser
internal import CatalogTransfer
internal import ClusterClient
internal import CommandSupport
import Errors
internal import Files
import Foundation
import Packages
import Wire
import ZeroMQ

/// `packhorse build`: from an area and a tileset to finished files, in one command.
struct BuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "build",
        abstract: "Build packages on this machine in one command: area and tileset in, verified files out.",
        discussion: """
            Starts a coordinator and workers for the length of the build. Interrupted or killed, the same command
            continues where it stopped: until the files exist, the work is kept in '.NAME.packhorse' next to the
            output. Standard output lists the files.

            Examples:
              packhorse build EE --tileset tiles.yaml
              packhorse build EE --tileset tiles.yaml -o estonia.pmtiles
              packhorse build EE LV LT --tileset tiles.yaml --format mbtiles,pmtiles -o maps/
              packhorse build --geojson park.geojson --tileset mbtiles:planet.mbtiles -o park.mbtiles
              packhorse build --route walk.gpx --margin 1km --tileset tiles.yaml -o walk.mbtiles
              packhorse build EE --tileset tiles.yaml --format zip,folder -o site/
              packhorse build EE --tileset tiles.yaml --max-file 4GB -o card/
              packhorse build EE --tileset tiles.yaml --format pmtiles -o - | ssh server 'cat > EE.pmtiles'
              packhorse build EE --tileset tiles.yaml --zoom 0-12 --dry-run
            """)

    @OptionGroup var submission: SubmitOptions
    @OptionGroup var changed: ChangedOptions

    @Option(
        name: .shortAndLong,
        help: BuildCommand.outputHelp)
    var output: String?

    @Option(help: ArgumentHelp("Worker processes, 1 to 64. Default: the number of cores.", valueName: "number"))
    var workers: Int?

    @Flag(
        help:
            "Replace existing files, with all parts that an earlier build of the same output has left, and build finished ones again."
    )
    var force = false

    @Flag(help: "Drop an unfinished build of this output and start over.")
    var restart = false

    @Flag(help: "Start over automatically if the archive is replaced while it is read.")
    var restartOnChange = false

    @Flag(help: "Show the number of tiles and the approximate file sizes, then stop.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "Stop when no tile arrives for this long: 30s, 10min, 2h. Fetched tiles are kept.",
            valueName: "duration"))
    var patience = "10min"

    @Option(help: ArgumentHelp("Where to keep the unfinished build. Default: next to the output.", valueName: "folder"))
    var state: String?

    @Option(
        help: ArgumentHelp(
            "Build on this running cluster, and fetch the files from its catalog. Several endpoints, repeated or comma-separated: the coordinator of the highest epoch is asked.",
            valueName: "endpoint"))
    var coordinator: [String] = []

    @Option(
        help: ArgumentHelp(
            "The folder or URL of --coordinator's catalog on this machine. Default: the folder that the coordinator names.",
            valueName: "folder or url"))
    var filesFrom: String?

    @OptionGroup var keys: KeyOptions
    @OptionGroup var progress: ProgressOptions

    private static var outputHelp: ArgumentHelp {
        let files = PackageFormat.endings(of: PackageFormat.allCases.filter { !$0.isFolder })
        let folders = PackageFormat.endings(of: PackageFormat.allCases.filter(\.isFolder))
        return ArgumentHelp(
            "The file, whose extension sets the format (\(files); \(folders) for a folder of tiles), or a folder: one that exists, or a name that ends with '/'; '-' sends the one file to standard output. Default: the id of the area, or the name of its file, in the current folder.",
            valueName: "path")
    }

    /// Whether a running cluster builds.
    private var isShared: Bool { !coordinator.isEmpty }

    func validate() throws {
        try EndpointList.check(coordinator, option: "--coordinator")
        if let workers, !(1...64).contains(workers) { throw ValidationError("--workers must be between 1 and 64.") }
        guard !isShared || workers == nil else {
            throw ValidationError("--workers is only for builds on this machine; --coordinator has its own workers.")
        }
        guard WallTime.duration(patience) ?? 0 > 0 else {
            throw ValidationError("'\(patience)' is not a duration: write --patience 30s, 10min or 2h.")
        }
        guard isShared || changed.changed.isEmpty else {
            throw ValidationError(
                "--changed needs --coordinator: a build on this machine keeps no tiles, so it has to ask for all.")
        }
        guard isShared || filesFrom == nil else { throw ValidationError("--files-from needs --coordinator.") }
        guard isShared || submission.priority >= 0 else {
            throw ValidationError("A --priority below 0 pauses the job, so a build on this machine would never end.")
        }
    }

    func run() async throws {
        if !isShared { try ProcessLimits.require(.service) }
        let command = self
        do {
            try await Interruptible.run {
                try await ChangedSource.again(command.restartOnChange) { try await command.build(earlier: $0) }
            }
        } catch let error as CLIError where error.status == .interrupted {
            throw CLIError(
                .interrupted, "interrupted",
                hint: "to continue where it stopped, run: \(ShellText.thisCommand(without: "--restart"))")
        }
    }

    /// - Parameter earlier: Number of earlier runs whose archive was replaced.
    private func build(earlier: Int) async throws {
        let target = try BuildTarget(output)
        if target.isPiped, !dryRun { try PipedFile.check(json: progress.json) }
        var submission = submission
        try target.fill(&submission.output)
        // A dry run says the depth with the sizes that it measures itself.
        let drafts = try changed.filled(try await submission.drafts(measuresDepth: !dryRun))
        let plan = try BuildPlan(
            drafts, for: target, policy: submission.policy(),
            coordinator: isShared ? coordinator.joined(separator: ",") : nil,
            state: state.map { URL(filePath: $0, directoryHint: .isDirectory) })
        if earlier == 0, let note = target.note(of: plan.files) { Console.note(note) }
        let isUnderWay = FileKind.isThere(plan.state)
        if dryRun {
            try plan.checkNames(replacing: force, isResumed: true)
            return try await BuildForecast.show(
                plan, workers: workerCount, saysDepth: submission.saysDepth, json: progress.json)
        }
        if !force, !restart, let finished = try await plan.finished() { return try await sayUnchanged(plan, finished) }
        // Files of an interrupted build of this output are checked later, when it is known which build made them.
        try plan.check(replacing: force || (isUnderWay && !restart))
        if !isShared, !isUnderWay {
            for draft in plan.drafts { try await HostCheck.require(draft.tileset, orSilent: false) }
        }
        let folder = try await BuildFolder(
            plan.state, for: plan.record, isRestart: restart && earlier == 0, restartsOnChange: restartOnChange)
        do {
            if folder.isResumed {
                try plan.checkNames(replacing: force, isResumed: true)
            } else {
                try plan.check(replacing: force)
            }
            let made = try await run(plan, folder)
            let (files, isWhole) = try await placeFiles(of: plan, jobs: made, in: folder)
            let report = BuildReport(plan, made, files: files, isWhole: isWhole)
            if report.isDone || !report.keepsWork { folder.remove() }
            if report.isOfChangedSource, restartOnChange, earlier < ChangedSource.maxRestarts {
                throw CLIError(.badData, "the archive was replaced", isOfChangedSource: true)
            }
            try await show(report)
        } catch {
            folder.removeUnlessNoted()
            throw error
        }
    }

    private var workerCount: Int { workers ?? min(64, max(1, ProcessInfo.processInfo.activeProcessorCount)) }

    private func run(_ plan: BuildPlan, _ folder: BuildFolder) async throws -> [PBJobStatus] {
        let run = BuildRun(
            plan: plan, folder: folder, style: progress.style,
            patience: Double(WallTime.duration(patience) ?? 0) / 1_000)
        guard isShared else { return try await run.here(workers: workerCount) }
        return try await run.there(EndpointList.addresses(coordinator), keys, filesFrom: filesFrom)
    }

    /// Moves the finished files to their destination.
    ///
    /// - Returns: The files, and whether all packages have theirs.
    private func placeFiles(of plan: BuildPlan, jobs made: [PBJobStatus], in folder: BuildFolder) async throws
        -> (files: [BuildReport.File], isWhole: Bool)
    {
        let source = BuildSource(
            isShared: isShared, catalog: try filesFrom.map(CatalogSource.init), incoming: folder.incoming)
        var files: [BuildReport.File] = []
        var isWhole = true
        for file in plan.files {
            let found = made[file.job].files(of: file)
            if found.isEmpty { isWhole = false }
            // How many parts there are is known now: no file is placed when the name of one is taken.
            for (output, _) in found
            where found.count > 1 && !(FileMark.read(output.url)?.hasPrefix(plan.record.identity) ?? false) {
                try output.format.checkName(output.url, replacing: mayReplace(output.url, of: plan, in: folder))
            }
            for (output, published) in found {
                files.append(
                    try await source.place(
                        published, as: output, mark: output.mark(plan.record.identity),
                        replacing: mayReplace(output.url, of: plan, in: folder)))
            }
            guard force || folder.isResumed, !found.isEmpty else { continue }
            let others = Set((plan.files.filter { $0.url != file.url } + found.map(\.output)).map(\.url.path))
            if force {
                removeLeftovers(of: file, besides: others)
            } else {
                for one in file.leftovers(besides: others) where plan.isOfOtherLimit(one.url) { unlink(one.url.path) }
            }
        }
        return (files, isWhole)
    }

    /// Whether a file may be replaced: by --force, or because an earlier run of this build placed it under another limit.
    private func mayReplace(_ url: URL, of plan: BuildPlan, in folder: BuildFolder) -> Bool {
        force || folder.isResumed && plan.isOfOtherLimit(url)
    }

    /// Removes what another build has left of an output, after the new files are placed.
    private func removeLeftovers(of file: BuildOutput, besides placed: Set<String>) {
        let left = file.leftovers(besides: placed)
        for one in left where one.isProven { unlink(one.url.path) }
        let others = left.filter { !$0.isProven }.map { BuildOutput.name($0.url) }
        guard !others.isEmpty else { return }
        // Without marks, as on FAT32, nothing proves that they are not the user's own.
        Console.warning("not of this build, and perhaps of an earlier one: \(others.joined(separator: ", "))")
    }

    private func sayUnchanged(_ plan: BuildPlan, _ finished: [BuildOutput]) async throws {
        // An earlier run was killed after its last file. Its state is removed now.
        if FileKind.isThere(plan.state) {
            try await BuildFolder(plan.state, for: plan.record, isRestart: true).remove()
        }
        for file in finished {
            Console.note("unchanged: \(file.name) was made by the same command; --force builds it again")
        }
        try await show(BuildReport(plan, [], files: finished.map(BuildReport.File.init(unchanged:)), isWhole: true))
    }

    /// Prints the result; with `-o -` sends the file to standard output, and removes it then.
    private func show(_ report: BuildReport) async throws {
        guard output == PipedFile.name else { return try report.show(json: progress.json) }
        try report.show(json: false, listsFiles: false)
        for file in report.files {
            try await PipedFile.send(URL(filePath: file.path))
            unlink(file.path)
        }
        // Another build of this folder may still be unfinished.
        rmdir(BuildTarget.pipeFolder.path)
    }
}
