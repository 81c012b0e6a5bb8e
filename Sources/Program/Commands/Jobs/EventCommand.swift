internal import CommandSupport
import Errors
import Foundation
import Notifications
import Synchronization

/// One run of a user's command for a notification.
///
/// The command gets the JSON of the notification on standard input, and the same facts as variables. What it prints goes
/// to standard error, because standard output has only the result of `packhorse`.
final class EventCommand: Sendable {
    private let command: String
    private let json: [UInt8]
    private let variables: [String: String]
    private let child = Mutex<Int32?>(nil)

    init(_ command: String, _ notification: EventNotification, json: [UInt8], catalog: URL?) {
        self.command = command
        self.json = json
        variables = Self.variables(notification, catalog: catalog)
    }

    /// Variables without a value are empty, so that scripts can use `set -u`.
    static func variables(_ notification: EventNotification, catalog: URL?) -> [String: String] {
        let file = notification.package.flatMap { package in
            catalog.map { $0.appending(path: package.path).standardizedFileURL.path }
        }
        return [
            "PACKHORSE_EVENT": notification.kind,
            "PACKHORSE_EVENT_ID": notification.id,
            "PACKHORSE_EVENT_TEXT": notification.text,
            "PACKHORSE_JOB": notification.job.map { "\($0)" } ?? "",
            "PACKHORSE_CATALOG": notification.catalog ?? "",
            "PACKHORSE_STATE": notification.state,
            "PACKHORSE_PACKAGE": notification.package?.id ?? "",
            "PACKHORSE_VERSION": notification.package.map { "\($0.version)" } ?? "",
            // The catalog may be on another machine.
            "PACKHORSE_FILE": file.map { FileManager.default.fileExists(atPath: $0) ? $0 : "" } ?? "",
            "PACKHORSE_URL": notification.package?.url ?? "",
        ]
    }

    /// Runs the command and waits for its end.
    ///
    /// A cancelled task asks the command to end (SIGTERM), and ends it after ten seconds (SIGKILL).
    ///
    /// - Returns: Its exit code; 128 and the number of the signal that ended it, as in a shell.
    /// - Throws: ``CLIError`` 73 when it cannot be started; `CancellationError`.
    func run() async throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.standardError
        // The whole text fits into the pipe (64 KiB), so nothing waits for a command that does not read it.
        try input.fileHandleForWriting.write(contentsOf: Data(json + [UInt8(ascii: "\n")]))
        let status = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Int32, any Error>) in
                process.terminationHandler = { process in
                    let isSignal = process.terminationReason == .uncaughtSignal
                    ended.resume(returning: process.terminationStatus + (isSignal ? 128 : 0))
                }
                do {
                    try process.run()
                    started(process.processIdentifier)
                    // Then the command sees the end of the text. A pipe that is closed already needs nothing.
                    try? input.fileHandleForWriting.close()
                } catch {
                    process.terminationHandler = nil
                    ended.resume(
                        throwing: CLIError(.cannotCreate, "/bin/sh cannot be started: \(error.localizedDescription)"))
                }
            }
        } onCancel: {
            stop()
        }
        child.withLock { $0 = nil }
        try Task.checkCancellation()
        return status
    }

    private func started(_ id: Int32) {
        child.withLock { $0 = id }
        if Task.isCancelled { stop() }
    }

    private func stop() {
        guard let id = child.withLock({ $0 }) else { return }
        Self.send(SIGTERM, to: id)
        DispatchQueue.global().asyncAfter(deadline: .now() + 10) { [self] in
            // Only while it still runs: another process may have its number later.
            child.withLock { child in if child == id { Self.send(SIGKILL, to: id) } }
        }
    }

    /// Also to the processes that the shell has started, when the shell leads a group.
    private static func send(_ signal: Int32, to id: Int32) { kill(getpgid(id) == id ? -id : id, signal) }
}
