public import Errors
public import Foundation

/// A folder of one process's own below a folder that several share; what ended processes left there is removed at the
/// next start.
///
/// A running process holds a lock on a file in its folder; the kernel releases it when the process ends for any reason.
public final class ScratchFolder: Sendable {
    private static let prefix = "packhorse-"
    /// The file in the shared folder that is locked while a process makes or removes folders there.
    package static let gateName = ".packhorse-lock"

    /// The folder; it is removed with this value.
    public let url: URL
    private let lock: Int32

    /// Makes the folder, after removing those of ended processes.
    ///
    /// Blocks while another process does the same.
    /// - Throws: `disk-full` or `io`.
    public init(in parent: URL) throws(StorageError) {
        try Durable.makeFolder(parent)
        let gate = try Self.locked(parent.appendingPathComponent(Self.gateName))
        defer { close(gate) }
        try Self.removeDead(parent)
        url = parent.appendingPathComponent(Self.prefix + TemporaryName.random())
        try Durable.makeFolder(url)
        lock = try Self.locked(url.appendingPathComponent("lock"))
    }

    deinit {
        close(lock)
        do { try FileManager.default.removeItem(at: url) } catch { return }  // The next start removes it.
    }

    private static func removeDead(_ parent: URL) throws(StorageError) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: parent.path)
        } catch {
            throw StorageError(.io, "Cannot list '\(parent.path)': \(error.localizedDescription).", cause: error)
        }
        for name in names where name.hasPrefix(prefix) {
            let folder = parent.appendingPathComponent(name)
            let handle = open(folder.appendingPathComponent("lock").path, O_RDWR | O_CLOEXEC)
            defer { if handle >= 0 { close(handle) } }
            // A folder without a lock file is from a process that ended before it made one: the gate lock ensures that
            // no running process is in that state.
            if handle >= 0, flock(handle, LOCK_EX | LOCK_NB) != 0 { continue }
            do {
                try FileManager.default.removeItem(at: folder)
            } catch {
                throw StorageError(.io, "Cannot remove '\(folder.path)': \(error.localizedDescription).", cause: error)
            }
        }
    }

    private static func locked(_ file: URL) throws(StorageError) -> Int32 {
        let handle = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard handle >= 0 else { throw StorageError.system(errno, action: "open", path: file.path) }
        while flock(handle, LOCK_EX) != 0 {
            let number = errno
            if number == EINTR { continue }
            close(handle)
            throw StorageError.system(number, action: "lock", path: file.path)
        }
        return handle
    }
}
