import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Foundation
internal import TextFormats
import Wire

/// `packhorse schedule`: repeated submissions.
struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule", abstract: "Repeat submissions, for example every month.",
        discussion: """
            Times are UTC unless a time zone is named. A run is skipped and counted while the last job of the schedule has not ended. Runs that were missed while the
            coordinator was down run once.

            Examples:
              packhorse schedule add monthly-ee --every "monthly 3 02:30" EE --tileset tiles.yaml
              packhorse schedule add daily-ee --every "daily 02:30" --time-zone Europe/Tallinn EE --tileset tiles.yaml
              packhorse schedule edit daily-ee --every "daily 04:00" --retry 3,10m
              packhorse schedule list
            """,
        subcommands: [
            Add.self, Edit.self, List.self, Show.self, History.self, Pause.self, Resume.self, Run.self, Remove.self,
        ])

    /// `packhorse schedule add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a schedule, or replace the one with this id.",
            discussion: """
                Masks and tileset are fixed now, until the schedule is replaced, or read again with --follow-files; of a source with 'latest' each run takes the newest build, and makes no job when the last one was made of it. Several languages become one schedule
                each, monthly-ee-de and so on, because each is a separate job.

                Examples:
                  packhorse schedule add weekly-ee --every "weekly mon 04:00" EE --tileset tiles.yaml
                  packhorse schedule add monthly-ee --every "monthly 3 02:30" EE --tileset tiles.yaml --language en,de,et
                """)
        @Argument(help: "A name for the schedule: letters, digits and -_.,()") var schedule: String
        @Option(
            help: "When: \"monthly 3 02:30\", \"weekly mon 04:00\", \"daily 01:00\" or \"hourly 15\".")
        var every: String
        @Option(
            help: ArgumentHelp(
                "The time zone of these times, for example Europe/Tallinn (default: UTC).", valueName: "name"))
        var timeZone: String?
        @Option(
            help: ArgumentHelp(
                "Run later by up to this time, for example 30m or 2h: each schedule by its own constant part of it.",
                valueName: "time"))
        var jitter: String?
        @Option(
            help: ArgumentHelp(
                "Try a run that failed again: 3,10m = three times, after 10, 20 and 40 minutes. Then there is one notification. Default: none.",
                valueName: "count,time"))
        var retry: String?
        @Flag(
            help:
                "Let the coordinator read the file of --packages and the tileset file again at each run; they must be in its folder --schedule-files, under the same path."
        )
        var followFiles = false
        @OptionGroup var options: SubmitOptions
        @OptionGroup var labels: LabelOptions
        @OptionGroup var cluster: ClusterOptions
        @Flag(help: "Print the result as JSON.") var json = false

        func run() async throws {
            let rule = ([every] + [timeZone, jitter.map { "jitter \($0)" }].compactMap(\.self)).joined(separator: " ")
            let drafts = try await options.drafts()
            for warning in drafts.flatMap(\.warnings) { Console.warning(warning) }
            let followed = followFiles ? try options.followedFiles() : nil
            // All are made before the first one is sent, so that an error leaves none of them.
            let schedules = try drafts.map { draft in
                var draft = draft
                // Each run uses the version that exists at that time.
                draft.sourceVersion = nil
                var request = draft.request(options.policy(labels: labels.on))
                request.latest = draft.following ?? ""
                if let followed { request.follows = followed(draft.publish.edition.language) }
                let submission = try request.frame
                return PBSchedule.make {
                    $0.id = drafts.count == 1 ? schedule : "\(schedule)-\(draft.publish.edition.language)"
                    $0.every = rule
                    $0.label = draft.label
                    $0.submission = Data(submission)
                    $0.retry = retry ?? ""
                }
            }
            let answers = try await cluster.withClient { client in
                var answers: [PBOrdered] = []
                for one in schedules { answers.append(try await client.putSchedule(one)) }
                return answers
            }
            if json, answers.count > 1 { return Console.result(try JSONText.pretty(answers.map(OrderedView.init))) }
            for answer in answers { try OrderedView(answer).show(asJSON: json) }
        }
    }

    /// `packhorse schedule list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the schedules.", discussion: "Example: packhorse schedule list --json")
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var cluster: ClusterOptions

        func run() async throws {
            let schedules = try await cluster.withClient { try await $0.schedules() }
            if json { return Console.result(try JSONText.pretty(schedules)) }
            var table = Table(
                "schedule", "every", "next", "fired", "skipped", "last job", "build", "nothing new", "label")
            for schedule in schedules {
                table.add(
                    schedule.id, schedule.every, schedule.nextText,
                    Units.count(schedule.fired),
                    Units.count(schedule.skipped), schedule.lastJob == 0 ? "-" : "\(schedule.lastJob)",
                    schedule.sourceBuild.isEmpty ? "-" : schedule.sourceBuild,
                    WallTime.iso(schedule.unchangedMs) ?? "-", schedule.label)
            }
            Console.result(table, lessNeeded: ["skipped", "fired", "nothing new", "build", "last job"])
        }
    }

    /// `packhorse schedule remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a schedule; its jobs are kept.",
            discussion: "Example: packhorse schedule remove monthly-ee")
        @Argument(help: "The schedule.") var schedule: String
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var cluster: ClusterOptions

        func run() async throws {
            let answer = try await cluster.withClient { try await $0.order(schedule: schedule, "drop") }
            try OrderedView(answer).show(asJSON: json)
        }
    }

    /// `packhorse schedule run`.
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run", abstract: "Submit a schedule's job now; its calendar does not change.",
            discussion: """
                Prints the job's number. While the last job has not ended, that job's number is printed.

                Example: packhorse schedule run monthly-ee
                """)
        @Argument(help: "The schedule.") var schedule: String
        @OptionGroup var cluster: ClusterOptions

        func run() async throws {
            let submitted = try await cluster.withClient { client in
                try await client.submit(.make { $0.schedule = schedule })
            }
            Console.result("\(submitted.job)")
            Console.note(
                submitted.existing
                    ? "job \(submitted.job) of schedule '\(schedule)' has not ended"
                    : "follow it with: packhorse watch \(submitted.job)")
        }
    }
}
