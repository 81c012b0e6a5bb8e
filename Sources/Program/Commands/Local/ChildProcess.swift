internal import CommandSupport
import Errors
import Foundation
import Telemetry

/// A `packhorse` child process of this one, which ends with it.
final class ChildProcess {
    private let process = Process()
    private let log: ChildLog
    /// The name of the process for messages.
    let name: String

    /// Starts this program with other arguments.
    ///
    /// - Parameters:
    ///   - log: Its standard error.
    ///   - lifeline: Its standard input, which ends when this process ends.
    ///   - output: Its standard output.
    ///   - onEnd: Called on another thread when it has ended and its log was read.
    /// - Throws: ``CLIError`` 73 when it cannot be started.
    init(
        name: String, arguments: [String], log: ChildLog, lifeline: Lifeline, output: FileHandle,
        onEnd: @escaping @Sendable (End) -> Void
    ) throws {
        self.name = name
        self.log = log
        process.executableURL = Self.program
        process.arguments = arguments
        process.environment = Self.environment(writingTo: log.writing.fileDescriptor)
        process.standardInput = lifeline.end
        process.standardOutput = output
        process.standardError = log.writing
        process.terminationHandler = { process in
            log.waitForEnd()
            onEnd(End(process))
        }
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
    ///
    /// - Parameter log: A child writes priorities for the journal if this process does, and passes its lines on.
    static func environment(writingTo log: Int32) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { name, _ in !ownVariables.contains(name) }
        if Journal.isReader { environment["JOURNAL_STREAM"] = Journal.stream(of: log) }
        return environment
    }

    private static let ownVariables = Set(ServiceManager.variables).union([
        "JOURNAL_STREAM",
        "PACKHORSE_COORDINATOR", "PACKHORSE_WORK", "PACKHORSE_KEYS", "PACKHORSE_KEY", "PACKHORSE_SERVER_KEY",
        "PACKHORSE_AUTHORIZED_KEYS", "PACKHORSE_SIGNING_KEY",
    ])

    /// The id of the process.
    var id: Int32 { process.processIdentifier }

    /// How a process has ended.
    enum End: Equatable {
        case bySignal(Int32)
        /// With this exit code.
        case byItself(Int32)

        fileprivate init(_ process: Process) {
            let status = process.terminationStatus
            self = process.terminationReason == .uncaughtSignal ? .bySignal(status) : .byItself(status)
        }
    }

    /// The error of the command that started it, after the end of the process.
    ///
    /// - Parameter hint: What the user can do, when the process itself gave no hint.
    func error(of end: End, hint: String) -> CLIError {
        switch end {
        case .bySignal(let signal): CLIError(.temporary, "\(name) was ended by signal \(signal)", hint: hint)
        case .byItself(let code):
            CLIError(
                ExitStatus(rawValue: code) ?? .temporary, "\(name) ended: \(log.lastWords)", hint: log.hint ?? hint)
        }
    }

    /// Asks the process to end (SIGTERM).
    func terminate() {
        if process.isRunning { process.terminate() }
    }

    /// Asks the process to read its settings again (SIGHUP).
    func reload() {
        if process.isRunning { kill(process.processIdentifier, SIGHUP) }
    }

    /// Ends the process at once (SIGKILL); blocks until it has ended.
    func killNow() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
