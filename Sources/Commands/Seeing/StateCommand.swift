import ArgumentParser
import Coordinator
import Foundation

/// `packhorse state`: the state file of a coordinator that does not run.
struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Check or restore the state file of a coordinator that is stopped.",
        discussion: """
            Example: packhorse state check --data ./data
            """,
        subcommands: [StateCheckCommand.self, StateRestoreCommand.self])
}

/// `packhorse state check`.
struct StateCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read the whole state, replay its event log and compare; exit 65 when they differ.",
        discussion: "Example: packhorse state check --data ./data")

    @Option(help: "The coordinator's data folder, as in its --data.") var data: String

    func run() async throws {
        let report = try await StateFile.check(URL(filePath: data))
        guard report.problems.isEmpty else {
            report.problems.forEach(Console.result)
            throw CLIError(
                .badData, "the state in '\(data)' is not what its event log tells",
                hint: "restore a backup: packhorse state restore FILE --data \(data)")
        }
        Console.result(
            "sound: \(Units.count(report.jobs, of: "job")), \(Units.count(report.events, of: "event")) replayed to the same state"
                + (report.forgotten == 0
                    ? "" : ", \(Units.count(report.forgotten, of: "summary", "summaries")) of older jobs")
        )
    }
}

/// `packhorse state restore`.
struct StateRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Go back to a backup; the present state is moved aside.",
        discussion: """
            Jobs go on from where they were when the backup was made: batches that were done since are fetched again when their
            shards are gone, packages that were published since stay. Leases granted since are refused.

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
