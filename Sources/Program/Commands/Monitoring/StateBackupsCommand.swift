import ArgumentParser
internal import CommandSupport
import Foundation
import StateBackups
internal import TextFormats

/// `packhorse state backups`: the backups that a coordinator made by itself.
struct StateBackupsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backups", abstract: "List the backups of the state that a coordinator made by itself.",
        discussion: """
            PLACE is that of coordinator --backup-to, or of --blobs if it is a bucket. The oldest is listed first. Of the last hour all backups
            are kept, then one of each hour for a day and one of each day for a month.
            Examples:
              packhorse state backups s3://tiles/blobs
              packhorse state backups /mnt/backups --json
            """)

    @Argument(help: "s3://bucket/prefix or a folder.") var place: String
    @Flag(help: "Print the list as JSON.") var json = false
    @OptionGroup var s3: S3Options

    func run() async throws {
        let backups = try await BackupReader(try s3.backupPlace(place)).indexes().map(ListedBackup.init)
        if json { return Console.result(try JSONText.pretty(backups)) }
        guard !backups.isEmpty else {
            return Console.note(
                "no coordinator has made a backup by itself in '\(place)'; the files of 'packhorse backup' are in the folder 'backups' of --data, and are not listed here"
            )
        }
        var table = Table("time", "epoch", "size", "segments")
        for backup in backups {
            table.add(backup.time, "\(backup.epoch)", Units.bytes(backup.bytes), "\(backup.segments)")
        }
        table.lines.forEach(Console.result)
    }
}

/// A backup as `--json` prints it.
struct ListedBackup: Encodable {
    /// When it was made; restores with `--at`.
    let time: String
    /// The epoch of the coordinator that made it.
    let epoch: UInt32
    /// Bytes of the state file.
    let bytes: UInt64
    /// Objects that a restoration reads, besides the index.
    let segments: Int

    init(_ index: BackupIndex) {
        time = BackupReader.time(index.name.seconds)
        epoch = index.name.epoch
        bytes = index.bytes
        segments = index.segments.count
    }
}
