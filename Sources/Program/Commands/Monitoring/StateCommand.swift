import ArgumentParser
internal import CommandSupport
import Coordinator
import Errors
import Foundation
import StateBackups
internal import TextFormats

/// `packhorse state`: the state file of a stopped coordinator.
struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Check or restore the state file of a stopped coordinator; list its backups.",
        discussion: """
            Examples:
              packhorse state check --data ./data
              packhorse state backups s3://tiles/blobs
            """,
        subcommands: [StateCheckCommand.self, StateBackupsCommand.self, StateRestoreCommand.self])
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
            BACKUP is a file of 'packhorse backup', or a place of coordinator --backup-to: s3://bucket/prefix or a folder.
            Of a place the newest backup is restored, or the newest at a time; an existing state is replaced only with --force.
            Jobs continue from the time of the backup: batches that were done since are fetched again if their
            shards are gone, and packages that were published since stay. Leases granted since are refused.

            Examples:
              packhorse state restore ./data/backups/before-upgrade.sqlite --data ./data
              packhorse state restore s3://tiles/blobs --data ./data --at 2026-11-28T19:15:00Z
            """)

    @Argument(help: "The file of a backup, or a place of automatic backups.") var backup: String
    @Option(help: "The coordinator's data folder, as in its --data.") var data: String
    @Option(
        help: ArgumentHelp(
            "The newest backup of a place at this time or before it, for example 2026-11-28T19:15:00Z. Default: the newest.",
            valueName: "time"))
    var at: String?
    @Flag(help: "Replace an existing state by the backup of a place; the state is renamed and kept.") var force = false
    @OptionGroup var s3: S3Options

    func validate() throws {
        if let at { _ = try Self.seconds(at) }
        guard at == nil || s3.isPlace(backup) else {
            throw ValidationError("--at needs a place of automatic backups: s3://bucket/prefix or a folder.")
        }
    }

    /// A time as seconds since 1970.
    private static func seconds(_ text: String) throws -> Int64? {
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw ValidationError("--at '\(text.prefix(60))' is no time; expected for example 2026-11-28T19:15:00Z.")
        }
        return Int64(exactly: date.timeIntervalSince1970.rounded(.down))
    }

    func run() async throws {
        if s3.isPlace(backup) {
            let (index, former) = try await StateFile.restore(
                from: try s3.backupPlace(backup), at: try at.flatMap(Self.seconds), into: URL(filePath: data),
                isForced: force
            )
            Console.result(
                "restored the backup of \(BackupReader.time(index.name.seconds)); start the coordinator with --data \(data)"
            )
            if let former { Console.note("the former state is kept as \(former.path)") }
            return
        }
        let former = try await StateFile.restore(URL(filePath: backup), into: URL(filePath: data))
        Console.result("restored; start the coordinator with --data \(data)")
        if let former { Console.note("the former state is kept as \(former.path)") }
    }
}
