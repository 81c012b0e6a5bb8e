internal import CommandSupport
import Errors
import Foundation

/// A `packhorse` child process of this one, which ends with it.
final class ChildProcess {
    private let process = Process()
    private let log: any ChildLog
    /// The name of the process for messages.
    let name: String

    /// Starts this program with other arguments.
    ///
    /// - Parameters:
    ///   - log: Its standard error.
    ///   - lifeline: Its standard input, which ends when this process ends.
    ///   - output: Its standard output.
    ///   - onEnd: Called on another thread when it has ended.
    /// - Throws: ``CLIError`` 73 when it cannot be started.
    init(
        name: String, arguments: [String], log: any ChildLog, lifeline: Lifeline, output: FileHandle,
        onEnd: (@Sendable () -> Void)? = nil
    ) throws {
        self.name = name
        self.log = log
        process.executableURL = Self.program
        process.arguments = arguments
        process.environment = Self.environment
        process.standardInput = lifeline.end
        process.standardOutput = output
        process.standardError = log.writing
        if let onEnd { process.terminationHandler = { _ in onEnd() } }
        do {
            try process.run()
        } catch {
            throw CLIError(.cannotCreate, "cannot start \(name): \(error.localizedDescription)")
        }
        log.wasStarted()
    }

    /// The file of this program.
    static var program: URL { URL(filePath: "/proc/self/exe").resolvingSymlinksInPath() }

    /// The environment of this process, without the variables of another cluster and its keys.
    ///
    /// Secrets of tilesets are passed on.
    static var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter { name, _ in !otherClusters.contains(name) }
    }

    private static let otherClusters: Set = [
        "PACKHORSE_COORDINATOR", "PACKHORSE_WORK", "PACKHORSE_KEYS", "PACKHORSE_KEY", "PACKHORSE_SERVER_KEY",
        "PACKHORSE_AUTHORIZED_KEYS", "PACKHORSE_SIGNING_KEY",
    ]

    /// The id of the process.
    var id: Int32 { process.processIdentifier }

    /// Whether the process is running.
    var isRunning: Bool { process.isRunning }

    /// The signal that ended it, or `nil` when it ended by itself.
    var signal: Int32? { process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil }

    /// The error of the command that started it, after the end of the process.
    var end: CLIError {
        let status = signal == nil ? ExitStatus(rawValue: process.terminationStatus) : nil
        let cause = signal.map { "was ended by signal \($0)" } ?? "ended: \(log.lastWords)"
        return CLIError(status ?? .temporary, "\(name) \(cause)", hint: log.hint)
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
