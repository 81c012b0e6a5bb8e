import Foundation

/// A program that a test runs and waits for.
struct Program {
    /// How it ended.
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
        /// From its start to its end, noted by a thread that no test can hold up.
        let duration: Duration
    }

    /// The `packhorse` binary that was built with these tests.
    static let packhorse = built("packhorse")
    /// The `packhorse-bench` binary that was built with these tests.
    static let packhorseBench = built("packhorse-bench")

    private static func built(_ name: String) -> URL {
        var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        for _ in 0..<4 {
            let candidate = folder.appending(path: name)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
            folder.deleteLastPathComponent()
        }
        return URL(filePath: ".build/release/\(name)")
    }

    /// Runs `packhorse` to its end.
    ///
    /// Outputs go through files, so that a full pipe never holds the program up.
    static func run(_ arguments: [String], environment: [String: String] = [:], in scratch: Scratch) async throws
        -> Outcome
    {
        try await run(packhorse, arguments, environment: environment, in: scratch)
    }

    /// Runs any program to its end; ends it when the test is cancelled, for example at its time limit.
    static func run(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:], in scratch: Scratch
    ) async throws -> Outcome {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let output = scratch.url("out-\(UUID().uuidString)")
        let errors = scratch.url("err-\(UUID().uuidString)")
        let handles = [try created(output), try created(errors)]
        (process.standardOutput, process.standardError) = (handles[0], handles[1])
        defer { close(handles) }
        let start = ContinuousClock.now
        let end = try await withTaskCancellationHandler {
            try await finish(process)
        } onCancel: {
            if process.isRunning { process.terminate() }
        }
        return Outcome(
            status: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8), duration: end - start)
    }

    /// Runs a process to its end, and returns when that was.
    private static func finish(_ process: Process) async throws -> ContinuousClock.Instant {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { ended in
            process.terminationHandler = { _ in ended.resume(returning: .now) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                ended.resume(throwing: error)
            }
        }
    }

    /// Closes what a process was given, once it runs or has ended.
    ///
    /// Foundation's Process keeps it open: the tests would have more than a thousand open files, with which `Process.run` of Swift 6.3.1 can
    /// end by signal 11 (it copies entries of /proc/self/fd beyond their buffer).
    static func close(_ handles: [FileHandle]) {
        // A file that does not close loses nothing here: the process has its own.
        for handle in handles { try? handle.close() }
    }

    static func created(_ file: URL) throws -> FileHandle {
        try Data().write(to: file)
        return try FileHandle(forWritingTo: file)
    }
}

/// A folder of one test, removed with it.
final class Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-e2e-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func url(_ name: String) -> URL { folder.appending(path: name) }
}
