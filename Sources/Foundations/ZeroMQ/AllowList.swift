public import Errors
public import Foundation
internal import Synchronization

/// The keys that may connect, and their roles: a folder of public keys, one `<name>.pub` each.
///
/// The folder is read again when the last read is older than a second. So adding, changing or removing a file takes
/// effect without a restart, also on open connections. No key is accepted from a malformed file.
public final class AllowList: Sendable {
    /// Largest number of keys read from one folder.
    static let maxKeys = 4096

    /// One key that may connect.
    public struct Entry: Hashable, Sendable {
        /// The file's name without `.pub`.
        public let name: String
        /// The key.
        public let key: PublicKey
        /// The roles of its holder.
        public let roles: PeerRoles
    }

    /// Shows whether a file has changed without reading it.
    private struct Stamp: Hashable {
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var files: [String: (stamp: Stamp, entry: Entry?)] = [:]
        var readAt: ContinuousClock.Instant?
    }

    private let folder: URL?
    private let state: Mutex<State>

    /// The keys in `folder`, usually `authorized_keys.d`.
    ///
    /// - Throws: ``ZeroMQError`` `key-missing` or `key-file` when the folder cannot be read.
    public init(folder: URL) throws(ZeroMQError) {
        guard Self.files(folder) != nil else {
            throw ZeroMQError(
                access(folder.path, F_OK) == 0 ? .keyFile : .keyMissing,
                "Cannot read the folder of allowed keys '\(folder.path)'. Create it and add one <name>.pub per peer."
            )
        }
        self.folder = folder
        state = Mutex(State())
    }

    /// A fixed list, by name.
    ///
    /// Every key has the same roles.
    public init(_ keys: [String: PublicKey], roles: PeerRoles = .all) {
        folder = nil
        let entries = keys.map { Entry(name: $0, key: $1, roles: roles) }
        let byKey = Dictionary(entries.map { ($0.key.z85, $0) }, uniquingKeysWith: { $0.name < $1.name ? $0 : $1 })
        state = Mutex(State(entries: byKey))
    }

    /// The entry of `key`, or `nil` when it may not connect.
    public func entry(of key: PublicKey) -> Entry? { entry(z85: key.z85) }

    /// The same for the key's text.
    func entry(z85: String) -> Entry? {
        state.withLock { state in
            guard let folder else { return state.entries[z85] }
            let now = ContinuousClock.now
            if state.readAt.map({ now - $0 >= .seconds(1) }) ?? true {
                Self.read(folder, &state)
                state.readAt = now
            }
            return state.entries[z85]
        }
    }

    /// What the last look at the folder changed.
    public struct Change: Hashable, Sendable {
        /// Keys that may connect now.
        public let count: Int
        /// Names of files whose key may connect since.
        public let added: [String]
        /// Names whose key may no longer connect.
        public let removed: [String]
        /// Names of files without a valid key, with the reason.
        public let refused: [String]
    }

    /// Reads every file of the folder again, and returns what that changed; a list without a folder stays as it is.
    public func reload() -> Change {
        let (before, after) = state.withLock { state in
            let before = state.entries
            if let folder {
                state.files = [:]
                Self.read(folder, &state)
                state.readAt = .now
            }
            return (before, state.entries)
        }
        // The folder was readable when the list was made; one that is not has no keys and nothing to refuse.
        let rows = folder.flatMap { try? Self.listing(of: $0) } ?? []
        let refused = rows.compactMap { row -> String? in
            guard case .failure(let error) = row.entry else { return nil }
            return "\(row.file.lastPathComponent) (\(error.message))"
        }
        func names(_ entries: some Sequence<Entry>) -> [String] { entries.map(\.name).sorted() }
        return Change(
            count: after.count, added: names(after.values.filter { before[$0.key.z85] != $0 }),
            removed: names(before.values.filter { after[$0.key.z85] == nil }), refused: refused)
    }

    /// Every key file of a folder with its entry, or the error because of which it is not accepted; ascending by name.
    ///
    /// - Throws: ``ZeroMQError`` `key-missing` or `key-file` when the folder cannot be read.
    public static func listing(of folder: URL) throws(ZeroMQError) -> [(file: URL, entry: Result<Entry, ZeroMQError>)] {
        guard let files = files(folder) else {
            throw ZeroMQError(
                access(folder.path, F_OK) == 0 ? .keyFile : .keyMissing,
                "Cannot read the folder of allowed keys '\(folder.path)'.")
        }
        return files.prefix(maxKeys).map { file in (file, Result { () throws(ZeroMQError) in try entry(in: file) }) }
    }

    private static func entry(in file: URL) throws(ZeroMQError) -> Entry {
        let (key, roles) = try KeyFile.readEntry(file)
        return Entry(name: file.deletingPathExtension().lastPathComponent, key: key, roles: roles)
    }

    /// Reads changed files.
    ///
    /// If two files have the same key, the first one by name counts.
    private static func read(_ folder: URL, _ state: inout State) {
        let known = state.files
        state.files = [:]
        state.entries = [:]
        for file in (files(folder) ?? []).prefix(maxKeys) {
            guard let stamp = stamp(file) else { continue }
            let entry: Entry?
            if let old = known[file.lastPathComponent], old.stamp == stamp {
                entry = old.entry
            } else {
                // Fails closed: the peer is refused, and the refusal is reported with its key.
                entry = try? self.entry(in: file)
            }
            state.files[file.lastPathComponent] = (stamp, entry)
            if let entry, state.entries[entry.key.z85] == nil { state.entries[entry.key.z85] = entry }
        }
    }

    private static func stamp(_ file: URL) -> Stamp? {
        var status = stat()
        guard stat(file.path, &status) == 0 else { return nil }
        return Stamp(
            inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
    }

    /// The key files in ascending order of their names, or `nil` when the folder cannot be read.
    private static func files(_ folder: URL) -> [URL]? {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            return names.filter { $0.hasSuffix(".pub") && !$0.hasPrefix(".") }.sorted().map(
                folder.appendingPathComponent)
        } catch {
            return nil
        }
    }
}
