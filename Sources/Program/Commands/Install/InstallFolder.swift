import Blobs
import CatalogFormat
internal import CommandSupport
import Errors
import Files
import Foundation

/// A client's folder: installed files, `installed.json`, and unfinished downloads.
///
/// Only one process changes it at a time. A file replaces the previous one by a rename, and the record is written after
/// that. The record adds only which version a file is, in case the catalog has forgotten it.
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

    /// The tile packs of one region.
    struct Packs: Codable, Hashable, Sendable {
        let id: String
        let group: String?
        let language: String?
        let version: Int32
        /// Path of the list inside the folder.
        let list: String
        /// Paths of its packs inside the folder, ascending.
        let packs: [String]
    }

    /// An installed style pack.
    struct Style: Codable, Hashable, Sendable {
        let id: String
        let version: Int32
        /// Path inside the folder.
        let file: String
        let sha256: String
    }

    /// The installed objects.
    ///
    /// Folders of earlier builds lack some members.
    struct Record: Codable {
        var packages: [Entry] = []
        /// The largest known sequence of each catalog, by its address and by the key that signed it.
        var catalogs: [String: Int64]?
        var regions: [Packs]?
        var styles: [Style]?
    }

    let folder: URL
    private let lock: FolderLock?

    /// Opens the folder, and creates it when it does not exist.
    ///
    /// - Parameter isOnlyRead: Whether nothing will be changed: then the folder is neither created nor locked.
    /// - Throws: ``CLIError`` 73 when it cannot be created or is not a folder, 75 while another process changes it.
    init(_ folder: URL, isOnlyRead: Bool = false) throws {
        self.folder = folder
        if isOnlyRead {
            guard FileKind.isFolder(folder) || !FileKind.isThere(folder) else {
                throw CLIError(
                    .cannotCreate, "'\(folder.path)' is not a folder", hint: "choose a folder to install into")
            }
            lock = nil
        } else {
            try OutputPlace.makeFolder(folder)
            lock = try FolderLock(folder.appending(path: ".lock"))
        }
    }

    /// The path of a group's package.
    ///
    /// The language is chosen per folder, not per file.
    func place(_ id: String, group: String?, fileExtension: String) -> String {
        place(id + fileExtension, group: group)
    }

    /// The same for any path.
    func place(_ path: String, group: String?) -> String { (group.map { "groups/\($0)/" } ?? "") + path }

    /// The file of a download with this digest.
    ///
    /// A later run continues it.
    func download(_ sha256: String) throws -> URL {
        let parts = folder.appending(path: ".downloads")
        try Durable.makeFolder(parts)
        return parts.appending(path: "\(sha256).part")
    }

    /// The record of a file.
    func entry(_ file: String) throws -> Entry? { try record().packages.first { $0.file == file } }

    /// Gives a finished file its name, then records it.
    func install(_ finished: URL, as entry: Entry) throws {
        try move(finished, to: entry.file)
        try save(entry)
    }

    /// Gives a finished file its name inside the folder.
    func move(_ finished: URL, to path: String) throws {
        let target = folder.appending(path: path)
        try Durable.makeFolder(target.deletingLastPathComponent())
        try Durable.sync(file: finished)
        try Durable.rename(finished, to: target)
    }

    /// Records an installed file.
    func save(_ entry: Entry) throws {
        try change { record in
            record.packages.removeAll { $0.file == entry.file }
            record.packages.append(entry)
            record.packages.sort { $0.file < $1.file }
        }
    }

    // MARK: - Tile packs and styles

    /// The regions whose packs are installed.
    func regions() throws -> [Packs] { try record().regions ?? [] }

    /// Records a region's packs, whose files exist, and removes older packs that no region uses any more.
    func save(_ region: Packs) throws {
        let before = try regions()
        let after = (before.filter { $0.list != region.list } + [region]).sorted { $0.list < $1.list }
        try change { $0.regions = after }
        for path in Self.packs(of: before.filter { $0.list == region.list }, notIn: after) {
            try Durable.remove(folder.appending(path: path))
        }
    }

    /// The packs of regions that no other region uses, ascending.
    static func packs(of gone: [Packs], notIn staying: [Packs]) -> [String] {
        Set(gone.flatMap(\.packs)).subtracting(staying.flatMap(\.packs)).sorted()
    }

    /// The record of a style.
    func style(_ id: String) throws -> Style? { try record().styles?.first { $0.id == id } }

    /// Records an installed style.
    func save(_ style: Style) throws {
        try change { record in
            record.styles = ((record.styles ?? []).filter { $0.id != style.id } + [style]).sorted { $0.id < $1.id }
        }
    }

    // MARK: - Age

    /// Refuses a catalog that is older than the last one: an attacker who controls a server can serve an old catalog
    /// with its old signature.
    ///
    /// - Parameter names: The identities of the catalog: its address, the key that signed it.
    /// - Throws: ``CLIError`` 65.
    func checkAge(_ sequence: Int64?, of names: [String]) throws {
        let seen = try names.compactMap { try record().catalogs?[$0] }.max()
        guard let seen, sequence ?? -1 < seen else { return }
        throw CLIError(
            .badData,
            "the catalog is older than the one that '\(folder.path)' was last installed from: its sequence is "
                + "\(sequence.map { "\($0)" } ?? "unknown"), the last one was \(seen)",
            hint: "try again when the server has the new one; pass --allow-older to use the older one")
    }

    /// Records the sequence of a catalog.
    ///
    /// After --allow-older the number becomes smaller.
    func noteAge(_ sequence: Int64?, of names: [String]) throws {
        guard let sequence else { return }
        try change { record in
            var catalogs = record.catalogs ?? [:]
            for name in names { catalogs[name] = sequence }
            record.catalogs = catalogs
        }
    }

    func change(_ body: (inout Record) -> Void) throws {
        var record = try record()
        let before = try Self.encoded(record)
        body(&record)
        let bytes = try Self.encoded(record)
        guard bytes != before || !FileKind.isThere(recordURL) else { return }
        try Durable.write(bytes, to: recordURL)
    }

    private static func encoded(_ record: Record) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return [UInt8](try encoder.encode(record)) + [0x0A]
    }

    private var recordURL: URL { folder.appending(path: "installed.json") }

    func record() throws -> Record {
        guard FileManager.default.fileExists(atPath: recordURL.path) else { return Record() }
        do { return try JSONDecoder().decode(Record.self, from: try InputFile.read(recordURL)) } catch is DecodingError
        {
            throw CLIError(
                .badData, "'\(recordURL.path)' was not written by 'packhorse install'",
                hint: "remove it: the packages stay, and their next update fetches whole files")
        }
    }
}

/// An advisory lock, held during the lifetime of the value.
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
