internal import CProcess
import Foundation
import Synchronization

/// Another program that this process started, whose two outputs are read by pipes; its standard input is empty.
///
/// Foundation's `Process` is not used: its start on Linux (Swift 6.3.1) copies entries of `/proc/self/fd` beyond their buffer when more than
/// about 1,300 files are open, which can end this process by signal 11. A gateway has up to 10,000 connections.
final class RunningProgram: Sendable {
    /// How it ended.
    enum End: Equatable, CustomStringConvertible {
        case code(Int32)
        case signal(Int32)

        /// The end of a sentence about it.
        var description: String {
            switch self {
            case .code(let code): "ended with exit code \(code)"
            case .signal(let number): "was ended by signal \(number)"
            }
        }
    }

    /// Why it did not start: an error number of the system.
    struct StartFailed: Error {
        let number: Int32
    }

    /// What it writes to standard output.
    let output: FileHandle
    /// What it writes to standard error.
    let errors: FileHandle
    private let id: pid_t
    /// Whether its end was collected: its id may belong to another process then.
    private let hasEnded = Mutex(false)

    /// Starts a program; it gets no other open file of this process, and all signals have their default effect.
    ///
    /// - Parameters:
    ///   - program: The path of its file.
    ///   - environment: All its variables.
    /// - Throws: ``StartFailed``.
    init(_ program: String, arguments: [String], environment: [String: String]) throws(StartFailed) {
        let output = try Self.pipe()
        defer { close(output.writing) }
        self.output = FileHandle(fileDescriptor: output.reading, closeOnDealloc: true)
        let errors = try Self.pipe()
        defer { close(errors.writing) }
        self.errors = FileHandle(fileDescriptor: errors.reading, closeOnDealloc: true)

        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&files, output.writing, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&files, errors.writing, STDERR_FILENO)
        ph_close_from(&files, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var id: pid_t = 0
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        let number = posix_spawn(&id, program, &files, &attributes, &words, &variables)
        guard number == 0 else { throw StartFailed(number: number) }
        self.id = id
    }

    /// Both ends of a pipe, closed in programs that this process starts.
    private static func pipe() throws(StartFailed) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw StartFailed(number: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Asks it to end (SIGTERM); without effect after its end.
    func terminate() {
        hasEnded.withLock { if !$0 { kill(id, SIGTERM) } }
    }

    /// Waits for its end, once; blocks the thread.
    func wait() -> End {
        var information = siginfo_t()
        // Its id stays its own until the end is collected below, where `terminate` cannot run.
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        var status: Int32 = 0
        hasEnded.withLock {
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
            $0 = true
        }
        let signal = status & 0x7F
        return signal == 0 ? .code(status >> 8 & 0xFF) : .signal(signal)
    }
}
