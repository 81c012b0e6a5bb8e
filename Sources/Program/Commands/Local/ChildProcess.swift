internal import CommandSupport
import Errors
import Foundation

/// A `packhorse` child process of this one, which ends with it.
final class ChildProcess {
    private let process = Process()
    private let log: URL
    /// The position of this process's first line in the log.
    private let logStart: UInt64
    /// The name of the process for messages.
    let name: String

    /// Starts this program with other arguments, and appends its log to a file.
    ///
    /// - Parameters:
    ///   - lifeline: Its standard input, which ends when this process ends.
    ///   - output: Its standard output.
    /// - Throws: ``CLIError`` 73 when the log cannot be written or the process cannot be started.
    init(name: String, arguments: [String], log: URL, lifeline: Lifeline, output: FileHandle) throws {
        self.name = name
        self.log = log
        let descriptor = open(log.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw CLIError(
                .cannotCreate, "the log '\(log.path)' cannot be written: \(String(cString: strerror(errno)))",
                hint: "choose a writable folder")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        logStart = try handle.seekToEnd()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.environment = Self.environment
        process.standardInput = lifeline.end
        process.standardOutput = output
        process.standardError = handle
        do {
            try process.run()
        } catch {
            throw CLIError(.cannotCreate, "cannot start \(name): \(error.localizedDescription)")
        }
    }

    /// The environment of this process, without the variables of another cluster and its keys.
    ///
    /// Secrets of tilesets are passed on.
    private static var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter { name, _ in !otherClusters.contains(name) }
    }

    private static let otherClusters: Set = [
        "PACKHORSE_COORDINATOR", "PACKHORSE_WORK", "PACKHORSE_KEYS", "PACKHORSE_KEY", "PACKHORSE_SERVER_KEY",
        "PACKHORSE_AUTHORIZED_KEYS", "PACKHORSE_SIGNING_KEY",
    ]

    /// Whether the process is running.
    var isRunning: Bool { process.isRunning }

    /// The signal that ended it, or `nil` when it ended by itself.
    var signal: Int32? { process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil }

    /// The error of the command that started it, after the end of the process.
    var end: CLIError {
        let status = signal == nil ? ExitStatus(rawValue: process.terminationStatus) : nil
        let cause = signal.map { "was ended by signal \($0)" } ?? "ended: \(lastWords)"
        return CLIError(status ?? .temporary, "\(name) \(cause)", hint: "see its log: \(log.path)")
    }

    /// The last line that it logged, without its prefix.
    private var lastWords: String {
        let bytes = FileManager.default.contents(atPath: log.path) ?? Data()
        let text = String(decoding: bytes.dropFirst(Int(clamping: logStart)), as: UTF8.self)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("hint:") }
        return lines.last.map { $0.replacingOccurrences(of: "packhorse: error: ", with: "") } ?? "it logged nothing"
    }

    /// Asks the process to end (SIGTERM).
    func terminate() {
        if process.isRunning { process.terminate() }
    }

    /// Ends the process at once (SIGKILL); blocks until it has ended.
    func killNow() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Kills the process if it has not ended after ten seconds.
    ///
    /// Blocks until it has ended.
    func waitForEnd() {
        // Blocks the thread on purpose: in a cancelled task, where this runs after Ctrl-C, Task.sleep returns at once.
        for _ in 0..<200 where process.isRunning { usleep(50_000) }
        killNow()
    }
}
