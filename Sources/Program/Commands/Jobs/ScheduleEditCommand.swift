import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Wire

extension ScheduleCommand {
    /// `packhorse schedule edit`.
    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit", abstract: "Change some of a schedule; all else stays as it is.",
            discussion: """
                History, counts, a pause and the packages stay. The next firing stays where it is, unless its times change.
                A change of the same schedule by another command at the same time is not overwritten: this one ends with 75.

                Examples:
                  packhorse schedule edit monthly-ee --every "monthly 5 03:00" --time-zone Europe/Tallinn
                  packhorse schedule edit monthly-ee --retry none --into staging
                  packhorse schedule edit monthly-ee --on gpu-free
                """)
        @Argument(help: "The schedule.") var schedule: String
        @Option(help: "When: \"monthly 3 02:30\", \"weekly mon 04:00\", \"daily 01:00\" or \"hourly 15\".")
        var every: String?
        @Option(
            help: ArgumentHelp(
                "The time zone of these times, for example Europe/Tallinn, or UTC.", valueName: "name"))
        var timeZone: String?
        @Option(help: ArgumentHelp("Run later by up to this time: 30m, 2h, or none.", valueName: "time"))
        var jitter: String?
        @Option(
            help: ArgumentHelp(
                "Try a run that failed again: 3,10m = three times, after 10, 20 and 40 minutes; or none.",
                valueName: "count,time"))
        var retry: String?
        @Option(
            help: ArgumentHelp(
                "The name of the coordinator's catalog that gets the packages; main = the main one.", valueName: "name")
        )
        var into: String?
        @Option(
            help: ArgumentHelp(
                "Read this list of packages again at each run; it must be in the coordinator's folder --schedule-files. The zooms stay.",
                valueName: "file"))
        var followPackages: String?
        @Option(
            help: ArgumentHelp(
                "Read this tileset file again at each run; it must be in the coordinator's folder --schedule-files.",
                valueName: "file"))
        var followTileset: String?
        @Flag(help: "Read no file again: what the followed files say now stays.")
        var noFollowFiles = false
        @OptionGroup var labels: LabelOptions
        @Flag(help: "Let every worker work for its jobs: no label is needed any more.") var onAnyWorker = false
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var cluster: ClusterOptions

        func validate() throws {
            let changes = [every, timeZone, jitter, retry, into, followPackages, followTileset]
            guard noFollowFiles || onAnyWorker || !labels.on.isEmpty || changes.contains(where: { $0 != nil }) else {
                throw ValidationError("Nothing is to be changed: name at least one option, for example --every.")
            }
            guard !noFollowFiles || (followPackages == nil && followTileset == nil) else {
                throw ValidationError("--no-follow-files excludes --follow-packages and --follow-tileset.")
            }
            guard !onAnyWorker || labels.on.isEmpty else { throw ValidationError("--on-any-worker excludes --on.") }
        }

        func run() async throws {
            func path(_ file: String?) -> String { file.map { URL(filePath: $0).standardizedFileURL.path } ?? "" }
            let edit = PBScheduleEdit.make {
                $0.times = every ?? ""
                $0.timeZone = timeZone ?? ""
                $0.jitter = jitter ?? ""
                $0.retry = retry ?? ""
                $0.catalog = into ?? ""
                $0.packages = path(followPackages)
                $0.tileset = path(followTileset)
                $0.unfollows = noFollowFiles
                $0.labels = labels.on
                $0.unlabelled = onAnyWorker
            }
            let answer = try await cluster.withClient { [edit] client in
                var edit = edit
                edit.revision = try await client.schedule(schedule).schedule.revision
                return try await client.edit(schedule: schedule, edit)
            }
            try OrderedView(answer).show(asJSON: json)
        }
    }
}
