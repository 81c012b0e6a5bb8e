import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats
import Wire

extension ScheduleCommand {
    /// `packhorse schedule show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a schedule: when it runs, what its last run did, and why.",
            discussion: "Example: packhorse schedule show monthly-ee")
        @Argument(help: "The schedule.") var schedule: String
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var cluster: ClusterOptions

        func run() async throws {
            let found = try await cluster.withClient { try await $0.schedule(schedule) }.schedule
            if json { return Console.result(try JSONText.pretty(found)) }
            for (label, text) in Self.rows(found) {
                Console.result(label.padding(toLength: 10, withPad: " ", startingAt: 0) + text)
            }
        }

        private static func rows(_ one: PBSchedule) -> [(String, String)] {
            let runs = [
                "\(Units.count(one.fired)) made a job", "\(Units.count(one.unchanged)) found nothing new",
                "\(Units.count(one.skipped)) were skipped or failed without a job",
            ]
            var rows = [("schedule", one.id), ("every", one.every), ("next", one.nextText)]
            rows.append(("runs", runs.joined(separator: ", ")))
            if one.lastJob != 0 { rows.append(("last job", "\(one.lastJob)")) }
            if !one.sourceBuild.isEmpty { rows.append(("build", one.sourceBuild)) }
            if let time = WallTime.iso(one.unchangedMs) { rows.append(("last run", "\(time): nothing new, no job")) }
            if !one.cause.isEmpty { rows.append(("last run", "no job: \(one.cause): \(one.detail)")) }
            if !one.retry.isEmpty { rows.append(("retry", one.retry)) }
            if one.failures > 0 {
                let wait = one.retryMs == 0 ? "runs" : "in \(Units.duration(seconds: Double(one.retryMs) / 1_000))"
                rows.append(("attempts", "\(Units.count(one.failures)) failed, the next \(wait)"))
            }
            if !one.packagesFile.isEmpty { rows.append(("follows", one.packagesFile)) }
            if !one.tilesetFile.isEmpty { rows.append(("follows", one.tilesetFile)) }
            if !one.catalog.isEmpty { rows.append(("catalog", one.catalog)) }
            if !one.labels.isEmpty { rows.append(("labels", one.labels.joined(separator: ", "))) }
            if !one.label.isEmpty { rows.append(("label", one.label)) }
            return rows
        }
    }

    /// `packhorse schedule history`.
    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "List the last 100 runs of a schedule, newest first: what came of each, and why.",
            discussion: "Example: packhorse schedule history monthly-ee")
        @Argument(help: "The schedule.") var schedule: String
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var cluster: ClusterOptions

        func run() async throws {
            let firings = try await cluster.withClient { try await $0.schedule(schedule) }.firings
            if json { return Console.result(try JSONText.pretty(firings)) }
            var table = Table("run", "time", "started by", "result", "job", "build", "why")
            for one in firings {
                table.add(
                    "\(one.number)", WallTime.iso(one.atMs) ?? "-", one.startedBy, one.result,
                    one.job == 0 ? "-" : "\(one.job)", one.sourceBuild.isEmpty ? "-" : one.sourceBuild,
                    one.cause.isEmpty ? "" : "\(one.cause): \(one.detail)")
            }
            Console.result(table, lessNeeded: ["run", "build"])
        }
    }

    /// `packhorse schedule pause`.
    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause", abstract: "Pause a schedule: it does not run until it is resumed.",
            discussion: """
                A job that runs goes on. 'packhorse schedule run' still submits a job by hand.

                Example: packhorse schedule pause monthly-ee
                """)
        @Argument(help: "The schedule.") var schedule: String
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var cluster: ClusterOptions

        func run() async throws {
            let answer = try await cluster.withClient { try await $0.order(schedule: schedule, "pause") }
            try OrderedView(answer).show(asJSON: json)
        }
    }

    /// `packhorse schedule resume`.
    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "Resume a paused schedule; runs that were due meanwhile are left out.",
            discussion: "Example: packhorse schedule resume monthly-ee")
        @Argument(help: "The schedule.") var schedule: String
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var cluster: ClusterOptions

        func run() async throws {
            let answer = try await cluster.withClient { try await $0.order(schedule: schedule, "resume") }
            try OrderedView(answer).show(asJSON: json)
        }
    }
}

extension PBSchedule {
    /// When it runs next, for people.
    var nextText: String { paused ? "paused" : "in \(Units.duration(seconds: Double(nextMs) / 1_000))" }
}
