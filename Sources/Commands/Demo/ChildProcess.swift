import Foundation

/// Another `packhorse` process started by this one; ended with it.
final class ChildProcess {
    private let process = Process()
    /// What the process is, for messages.
    let name: String

    /// Starts this same program with other arguments; its log goes to a file.
    ///
    /// - Throws: ``CLIError`` 73 when the log cannot be created or the process not started.
    init(name: String, arguments: [String], log: URL) throws {
        self.name = name
        guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
            throw CLIError(.cannotCreate, "cannot create the log '\(log.path)'", hint: "choose another --folder")
        }
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: log)
        do {
            try process.run()
        } catch {
            throw CLIError(.cannotCreate, "cannot start \(name): \(error.localizedDescription)")
        }
    }

    /// Whether the process is still there.
    var isRunning: Bool { process.isRunning }

    /// Asks the process to end (SIGTERM).
    func terminate() {
        if process.isRunning { process.terminate() }
    }

    /// Ends the process when it has not ended after ten seconds; blocks until it has.
    func waitForEnd() {
        // Sleeps the thread on purpose: in a cancelled task, where this runs after Ctrl-C, Task.sleep returns at once.
        for _ in 0..<200 where process.isRunning { usleep(50_000) }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
