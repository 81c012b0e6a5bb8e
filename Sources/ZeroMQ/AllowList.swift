public import Foundation
internal import Synchronization

/// Who may connect: a folder of public keys, one `<name>.pub` each; the name becomes the peer's user id.
///
/// The folder is read again when the last reading is older than a second, so that adding or removing a file takes
/// effect without a restart, on live connections too. A malformed file admits nobody.
public final class AllowList: Sendable {
    /// Most keys read from one folder.
    static let maxKeys = 4096

    private struct State {
        var names: [PublicKey: String] = [:]
        var users: Set<String> = []
        var readAt: ContinuousClock.Instant?
    }

    private let folder: URL?
    private let state: Mutex<State>

    /// The keys in `folder`, usually `authorized_keys.d`.
    ///
    /// - Throws: ``ZeroMQError`` `key-file` when the folder cannot be read.
    public init(folder: URL) throws(ZeroMQError) {
        guard Self.files(folder) != nil else {
            throw ZeroMQError(
                .keyFile,
                "Cannot read the folder of allowed keys '\(folder.path)'. Create it and put a <name>.pub per peer in it."
            )
        }
        self.folder = folder
        state = Mutex(State())
    }

    /// A fixed list, by user id.
    public init(_ keys: [String: PublicKey]) {
        folder = nil
        let names = Dictionary(keys.map { ($1, $0) }, uniquingKeysWith: min)
        state = Mutex(State(names: names, users: Set(names.values)))
    }

    /// The user id of `key`, or `nil` when it may not connect.
    public func user(of key: PublicKey) -> String? { current().names[key] }

    /// Whether a peer that was admitted as `user` still may speak.
    public func admits(user: String) -> Bool { current().users.contains(user) }

    private func current() -> State {
        state.withLock { state in
            guard let folder else { return state }
            let now = ContinuousClock.now
            if let readAt = state.readAt, now - readAt < .seconds(1) { return state }
            state = Self.read(folder)
            state.readAt = now
            return state
        }
    }

    private static func read(_ folder: URL) -> State {
        var state = State()
        for file in (files(folder) ?? []).prefix(maxKeys) {
            let key: PublicKey
            do {
                key = try KeyFile.readPublic(file)
            } catch {
                continue  // Fails closed: the peer is refused, and the refusal is reported with its key.
            }
            let name = file.deletingPathExtension().lastPathComponent
            if state.names[key] == nil { state.names[key] = name }
        }
        state.users = Set(state.names.values)
        return state
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
