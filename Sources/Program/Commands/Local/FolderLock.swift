internal import CommandSupport
import Foundation

/// A lock file that one process at a time holds, together with the child processes that inherit it.
///
/// The kernel releases it when the last of them has ended.
struct FolderLock {
    /// The lock file; its first line is the id of the process that took the lock.
    let file: URL
    /// Creates the folder of the file if it is missing.
    var makeFolder: () throws -> Void = {}
    /// The error for a lock that a running process holds.
    let isHeld: (_ holder: Int32) -> CLIError
    /// The error for a file that cannot be opened or locked.
    let cannotLock: (_ number: Int32) -> CLIError

    /// How long the children of a killed holder may take to end.
    private static let patience = Duration.seconds(10)

    /// Takes the lock; waits while only children of a killed process hold it.
    ///
    /// - Returns: The open file. The lock is held as long as it is open.
    /// - Throws: The error of ``isHeld`` or ``cannotLock``.
    func take() async throws -> FileHandle {
        let clock = ContinuousClock()
        let deadline = clock.now + Self.patience
        while true {
            try makeFolder()
            let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                // Between the two calls, the process that created the folder may have removed it.
                guard errno == ENOENT, clock.now < deadline else { throw cannotLock(errno) }
                continue
            }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                // A process that ended in the meantime may have removed the file of this lock.
                guard Self.isSame(descriptor, file) else { continue }
                ftruncate(descriptor, 0)
                let holder = Array("\(ProcessInfo.processInfo.processIdentifier)\n".utf8)
                // A lock without the id of its holder would be waited for without end.
                guard write(descriptor, holder, holder.count) == holder.count else { throw cannotLock(errno) }
                return handle
            }
            guard [EWOULDBLOCK, EINTR].contains(errno) else { throw cannotLock(errno) }
            // An unreadable lock file names no holder; then the lock is waited for.
            let text = String(decoding: (try? handle.readToEnd()) ?? Data(), as: UTF8.self)
            if let holder = Int32(text.prefix { $0 != "\n" }), Self.isAlive(holder) || clock.now >= deadline {
                throw isHeld(holder)
            }
            // The holder was killed: its children end within milliseconds.
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func isSame(_ descriptor: Int32, _ file: URL) -> Bool {
        var (held, named) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && stat(file.path, &named) == 0 && held.st_ino == named.st_ino
            && held.st_dev == named.st_dev
    }

    /// Whether a process exists and has not ended.
    ///
    /// An ended process is still listed until its parent reads its exit code.
    private static func isAlive(_ process: Int32) -> Bool {
        // A process without this file has ended.
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let state = text.split(separator: ")").last?.split(separator: " ").first
        else { return false }
        return state != "Z" && state != "X"
    }
}
