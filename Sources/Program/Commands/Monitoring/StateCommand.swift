import ArgumentParser
internal import CommandSupport
import Coordinator
import Errors
import Foundation
internal import TextFormats

/// `packhorse state`: the state file of a stopped coordinator.
struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Check or restore the state file of a stopped coordinator.",
        discussion: """
            Example: packhorse state check --data ./data
            """,
        subcommands: [StateCheckCommand.self, StateRestoreCommand.self])
}

/// `packhorse state check`.
struct StateCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read the whole state, replay its event log and compare; exit code 65 if they differ.",
        discussion: "Example: packhorse state check --data ./data")

    @Option(help: "The coordinator's data folder, as in its --data.") var data: String
    @Flag(help: "Print the result as JSON.") var json = false

    func run() async throws {
        let report = try await StateFile.check(URL(filePath: data))
        if json { Console.result(try JSONText.pretty(report)) }
        guard report.problems.isEmpty else {
            if !json { report.problems.forEach(Console.result) }
            throw CLIError(
                .badData, "the state in '\(data)' differs from its event log",
                hint: "restore a backup: packhorse state restore FILE --data \(data)")
        }
        if json { return }
        Console.result(
            "state verified: \(Units.count(report.jobs, of: "job")), \(Units.count(report.events, of: "event")) replayed to the same state"
                + (report.forgotten == 0
                    ? "" : ", \(Units.count(report.forgotten, of: "summary", "summaries")) of older jobs")
        )
    }
}

/// `packhorse state restore`.
struct StateRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a backup; the current state is renamed and kept.",
        discussion: """
            Jobs continue from the time of the backup: batches that were done since are fetched again if their
            shards are gone, and packages that were published since stay. Leases granted since are refused.

            Example: packhorse state restore ./data/backups/before-upgrade.sqlite --data ./data
            """)

    @Argument(help: "The backup.") var backup: String
    @Option(help: "The coordinator's data folder, as in its --data.") var data: String

    func run() async throws {
        let former = try await StateFile.restore(URL(filePath: backup), into: URL(filePath: data))
        Console.result("restored; start the coordinator with --data \(data)")
        if let former { Console.note("the former state is kept as \(former.path)") }
    }
}
