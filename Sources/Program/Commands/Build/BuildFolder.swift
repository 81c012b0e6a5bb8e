internal import CommandSupport
import Errors
import Files
import Foundation
internal import TextFormats
internal import Tilesets

/// The folder of an unfinished build: its job, the fetched tiles, and a lock that one build at a time holds.
final class BuildFolder: Sendable {
    /// What is being built.
    ///
    /// Written when the job was accepted, so a folder without it contains nothing to keep.
    struct Record: Codable {
        /// Identifies everything that affects the files except ``limit``: builds with the same value use the same tiles.
        let work: String
        /// `--max-file` in bytes; 0 = none.
        let limit: UInt64
        /// The limit that the jobs were submitted with.
        var submittedLimit: UInt64
        /// The limit that the jobs have now; `nil` while it is being changed.
        var limitInForce: UInt64?
        /// The same as text for people.
        let label: String
        /// The canonical description of each job's tileset.
        let tilesets: [String]
        /// The version of each job's archive; empty for tile servers.
        let versions: [String]
        /// The command line that continues it; `nil` in a record of an earlier program.
        let command: String?

        /// What is being built, before its jobs are submitted.
        init(work: String, limit: UInt64, label: String, tilesets: [String], versions: [String], command: String) {
            (self.work, self.limit, submittedLimit, limitInForce) = (work, limit, limit, limit)
            (self.label, self.tilesets, self.versions, self.command) = (label, tilesets, versions, command)
        }

        /// Identifies everything that affects the files: hexadecimal digits that begin with ``work``.
        var identity: String {
            let digits = String(limit, radix: 16)
            return work + String(repeating: "0", count: 16 - digits.count) + digits
        }

        /// Whether it is the same build except for the versions of its archives.
        func isOfOtherVersions(than other: Record) -> Bool {
            label == other.label && tilesets == other.tilesets && versions != other.versions
        }

        /// The keys of the tilesets whose values differ from another record.
        ///
        /// The keys are those of ``Tileset/canonicalJSON``.
        func differences(from other: Record) -> [String] {
            func values(_ text: String) -> [String: JSONValue] {
                // A text that is no JSON object has no values to compare.
                if case .object(let members)? = JSONValue(json: Array(text.utf8)) { members } else { [:] }
            }
            guard tilesets.count == other.tilesets.count else { return [] }
            var keys: Set<String> = []
            for (own, others) in zip(tilesets.map(values), other.tilesets.map(values)) {
                keys.formUnion(Set(own.keys).union(others.keys).filter { own[$0] != others[$0] })
            }
            return keys.sorted()
        }
    }

    let url: URL
    /// Open for writing while the lock is held.
    ///
    /// Child processes that inherit it hold the lock too.
    let lock: FileHandle
    /// Whether an interrupted build continues, perhaps with another limit of file sizes.
    let isResumed: Bool
    /// What the folder said of the build that continues.
    let earlier: Record?
    private static let recordName = "build.json"
    private static let lockName = "lock"

    /// The folder for the files of coordinator and workers of this build.
    var cluster: URL { url.appending(path: "cluster", directoryHint: .isDirectory) }
    /// Files that are being moved to the output.
    var incoming: URL { url.appending(path: "incoming", directoryHint: .isDirectory) }

    /// Creates or opens the folder and takes its lock.
    ///
    /// - Parameters:
    ///   - isRestart: Whether to remove its content.
    ///   - restartsOnChange: Whether to remove content that comes from another version of the archive.
    /// - Throws: ``CLIError``: 75 when another build holds the lock; 73 when the folder cannot be created; 65 when it
    ///   contains another build.
    init(_ url: URL, for record: Record, isRestart: Bool, restartsOnChange: Bool = false) async throws {
        self.url = url
        lock = try await Self.lock(url)
        let found = Self.record(in: url)
        isResumed = !isRestart && found?.work == record.work
        earlier = isResumed ? found : nil
        let isReplaced = found?.isOfOtherVersions(than: record) == true
        guard let found, !isRestart, !isResumed, !(isReplaced && restartsOnChange) else {
            if !isResumed { try clear() }
            return
        }
        throw Self.otherBuild(url, found, than: record, isReplaced: isReplaced)
    }

    /// The error of a folder with the work of another build.
    private static func otherBuild(_ url: URL, _ found: Record, than record: Record, isReplaced: Bool) -> CLIError {
        let isAlike = found.label == record.label
        let keys = isAlike ? found.differences(from: record) : []
        let why =
            isReplaced
            ? "; its archive was replaced in the meantime"
            : !keys.isEmpty
                ? "; its tileset differs in \(keys.map(TilesetKey.name(ofMember:)).joined(separator: ", "))"
                : isAlike ? "; its area or other options differ" : ""
        let next = found.command.map { "continue it with: \($0)" } ?? "repeat the command that started it"
        let remedy =
            isReplaced
            ? "add --restart-on-change" : keys.isEmpty ? next : "undo the change of the tileset and \(next)"
        return CLIError(
            .badData, "'\(url.relativePath)' contains another unfinished build: \(found.label)\(why)",
            hint: "remove it and its tiles with --restart, choose another output, or \(remedy)")
    }

    /// Records what is being built.
    ///
    /// From now on the folder is worth keeping.
    func write(_ record: Record) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try Durable.write(Array(try encoder.encode(record)), to: url.appending(path: Self.recordName))
    }

    /// Removes the folder when it contains nothing to keep.
    func removeUnlessNoted() {
        if Self.record(in: url) == nil { remove() }
    }

    /// Removes the folder with all files of a build.
    func remove() {
        // Remaining files are removed by the next build of this output.
        try? clear()
        unlink(url.appending(path: Self.lockName).path)
        rmdir(url.path)
    }

    /// Removes everything except the lock.
    ///
    /// The record is removed first, so that an incomplete build is never continued.
    private func clear() throws {
        try Durable.remove(url.appending(path: Self.recordName))
        for folder in [cluster, incoming] where FileKind.isThere(folder) {
            do { try FileManager.default.removeItem(at: folder) } catch {
                throw CLIError(.inputOutput, "'\(folder.path)' cannot be removed: \(error.localizedDescription)")
            }
        }
    }

    private static func record(in url: URL) -> Record? {
        guard let bytes = FileManager.default.contents(atPath: url.appending(path: recordName).path) else { return nil }
        // A damaged record counts as none: the build cannot be continued.
        return try? JSONDecoder().decode(Record.self, from: bytes)
    }

    // MARK: - The lock

    private static func lock(_ url: URL) async throws -> FileHandle {
        try await FolderLock(
            file: url.appending(path: lockName),
            makeFolder: { try makeFolder(url) },
            isHeld: { holder in
                CLIError(
                    .temporary,
                    "another build of this output is running (process \(holder)) and keeps its state in '\(url.relativePath)'",
                    hint: "wait for it, or stop it with: kill \(holder)")
            },
            cannotLock: { refusal(url, $0) }
        ).take()
    }

    private static func makeFolder(_ url: URL) throws {
        if mkdir(url.path, 0o700) == 0 || errno == EEXIST, FileKind.isFolder(url) { return }
        if errno == ENOENT {
            try OutputLocation.makeFolder(url.deletingLastPathComponent())
            if mkdir(url.path, 0o700) == 0 { return }
        }
        throw refusal(url, errno)
    }

    private static func refusal(_ url: URL, _ number: Int32) -> CLIError {
        let isFull = number == ENOSPC || number == EDQUOT
        return CLIError(
            isFull ? .temporary : .cannotCreate,
            "the folder '\(url.path)' for the unfinished build cannot be created: \(String(cString: strerror(number)))",
            hint: isFull
                ? "free space on the disk of '\(url.path)', or choose another folder with --state"
                : "choose a writable output, or another folder with --state")
    }
}
