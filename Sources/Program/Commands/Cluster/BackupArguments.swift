import ArgumentParser
internal import CommandSupport
import Coordinator
import S3
internal import TextFormats

/// Where a coordinator backs up its state by itself, and from where it restores it.
struct BackupArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How often what has changed of the state is backed up; 0s = never. Default: 60s where --backup-to, --restore-from or a bucket in --blobs names a place, else never.",
            valueName: "duration"))
    var backupEvery: String?
    @Option(
        help: ArgumentHelp(
            "An existing folder, or s3://bucket/prefix, for backups of the state. Default: that of --restore-from, else that of --blobs if it is a bucket.",
            valueName: "place"))
    var backupTo: String?
    @Option(
        help: ArgumentHelp(
            "Begin with the newest backup of this place when --data has no state. Without any backup there the state is empty.",
            valueName: "place"))
    var restoreFrom: String?

    /// The places that options name.
    var places: [String] { [backupTo, restoreFrom].compactMap(\.self) }

    /// Where backups go; `nil` = nowhere.
    private func place(_ blobs: String?) -> String? {
        backupTo ?? restoreFrom ?? blobs.flatMap { S3Location.isMeant(by: $0) ? $0 : nil }
    }

    func check(blobs: String?) throws {
        for (option, text) in [("--backup-to", backupTo), ("--restore-from", restoreFrom)] {
            guard let text else { continue }
            if S3Location.isMeant(by: text) {
                try OptionValue.check(option) { _ = try S3Location(text) }
            } else if text.isEmpty || text.contains("://") {
                throw ValidationError("\(option) '\(text.prefix(100))' is neither a folder nor s3://bucket/prefix.")
            }
        }
        let seconds = try seconds()
        guard seconds.map({ $0 > 0 }) != true || place(blobs) != nil else {
            throw ValidationError("--backup-every needs --backup-to FOLDER, or --blobs s3://bucket/prefix.")
        }
    }

    private func seconds() throws -> Double? {
        guard let backupEvery else { return nil }
        guard let seconds = Units.seconds(backupEvery), seconds == 0 || (1...86_400).contains(seconds) else {
            throw ValidationError(
                "--backup-every '\(backupEvery.prefix(60))' is neither 0s nor a duration from 1s to 1d; expected for example 60s or 5m."
            )
        }
        return seconds
    }

    /// The backups that the options ask for; `nil` = none.
    func options(blobs: String?, _ store: BlobOptions) throws -> BackupOptions? {
        let every = try seconds() ?? 60
        guard every > 0, let place = place(blobs) else { return nil }
        return BackupOptions(try store.s3.backupPlace(place), every: .milliseconds(Int64(every * 1_000)))
    }
}
