import Catalog
import Foundation
import Shards

/// A client's folder: installed files, `installed.json`, and downloads that are not done.
///
/// One process changes it at a time. A file takes the place of the one before by renaming; the record is written after that and
/// tells nothing that the files do not show: it only knows which version a file is when the catalog has forgotten it.
struct InstallFolder: Sendable {
    /// One installed file.
    struct Entry: Codable, Hashable, Sendable {
        let id: String
        let group: String?
        let language: String?
        let format: String
        let version: Int32
        /// Path inside the folder.
        let file: String
        let size: Int64
        let sha256: String
        let attribution: String?
        let dataDate: String?

        enum CodingKeys: String, CodingKey {
            case id, group, language, format, version, file, size, sha256, attribution
            case dataDate = "data_date"
        }
    }

    private struct Record: Codable {
        var packages: [Entry] = []
    }

    let folder: URL
    private let lock: FolderLock

    /// Opens the folder, and makes it when it is not there.
    ///
    /// - Throws: ``CLIError`` 75 while another process changes it.
    init(_ folder: URL) throws {
        self.folder = folder
        try Durable.makeFolder(folder)
        lock = try FolderLock(folder.appending(path: ".lock"))
    }

    /// Where the package of a group is put; the language is chosen per folder, not per file.
    func place(_ id: String, group: String?, fileExtension: String) -> String {
        (group.map { "groups/\($0)/" } ?? "") + id + fileExtension
    }

    /// Where bytes with this digest are collected: a later run goes on with them.
    func download(_ sha256: String) throws -> URL {
        let parts = folder.appending(path: ".downloads")
        try Durable.makeFolder(parts)
        return parts.appending(path: "\(sha256).part")
    }

    /// The record of a file.
    func entry(_ file: String) throws -> Entry? { try record().packages.first { $0.file == file } }

    /// Gives a finished file its name, then notes it.
    func install(_ finished: URL, as entry: Entry) throws {
        let target = folder.appending(path: entry.file)
        try Durable.makeFolder(target.deletingLastPathComponent())
        try Durable.sync(file: finished)
        try Durable.rename(finished, to: target)
        try note(entry)
    }

    /// Notes what is installed.
    func note(_ entry: Entry) throws {
        var record = try record()
        guard !record.packages.contains(entry) else { return }
        record.packages.removeAll { $0.file == entry.file }
        record.packages.append(entry)
        record.packages.sort { $0.file < $1.file }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        try Durable.write([UInt8](try encoder.encode(record)) + [0x0A], to: recordURL)
    }

    private var recordURL: URL { folder.appending(path: "installed.json") }

    private func record() throws -> Record {
        guard FileManager.default.fileExists(atPath: recordURL.path) else { return Record() }
        do { return try JSONDecoder().decode(Record.self, from: try InputFile.read(recordURL)) } catch is DecodingError
        {
            throw CLIError(
                .badData, "'\(recordURL.path)' is not what 'packhorse install' wrote",
                hint: "remove it: the packages stay, and are fetched whole at their next update")
        }
    }
}

/// An advisory lock, held as long as the value.
private final class FolderLock: Sendable {
    private let handle: Int32

    init(_ file: URL) throws {
        handle = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard handle >= 0 else {
            throw CLIError(.cannotCreate, "cannot open '\(file.path)': \(String(cString: strerror(errno)))")
        }
        guard flock(handle, LOCK_EX | LOCK_NB) == 0 else {
            close(handle)
            throw CLIError(.temporary, "another process installs into '\(file.deletingLastPathComponent().path)'")
        }
    }

    deinit { close(handle) }
}
