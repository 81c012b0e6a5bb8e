import Foundation
import TestSupport
import Testing

/// A process that runs during a test and is ended with it, by its own id.
final class Daemon {
    /// It ended while a test waited for it.
    struct Ended: Error {
        let program: String
        let said: String
    }

    private let process = Process()
    /// Where its standard error goes.
    let log: URL
    /// Where its standard output goes.
    let output: URL

    init(
        program: URL = Program.packhorse, _ arguments: [String], environment: [String: String] = [:],
        in scratch: Scratch
    ) throws {
        log = scratch.url("log-\(UUID().uuidString)")
        output = scratch.url("out-\(UUID().uuidString)")
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let handles = [try Program.created(output), try Program.created(log)]
        (process.standardOutput, process.standardError) = (handles[0], handles[1])
        defer { Program.close(handles) }
        try process.run()
    }

    /// Only when a test failed before it stopped the process: asks first, so that nginx takes its workers along.
    deinit {
        guard process.isRunning else { return }
        process.terminate()
        for _ in 0..<40 where process.isRunning { usleep(50_000) }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var pid: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }
    /// Its exit code, once it has ended.
    var status: Int32 { process.terminationStatus }
    var said: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    /// Ends it without warning.
    func killNow() async throws {
        kill(pid, SIGKILL)
        try await ended()
    }

    /// Asks it to end.
    func stop() async throws {
        process.terminate()
        try await ended()
    }

    /// Peak resident memory so far, in bytes.
    var peakMemory: UInt64 {
        let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt64($0) } ?? 0) * 1024
    }

    private func ended() async throws {
        try await Eventually.holds("process \(pid) ends") { !self.process.isRunning }
    }
}

extension TimeLimitTrait.Duration {
    /// The limit of a test that runs the program.
    ///
    /// It ends a hang and measures nothing: beside forty busy loops a test of a minute takes ten. ``Eventually`` gives up earlier, after
    /// 600 s, and says for what it waited.
    static var programs: Self { .minutes(20) }
}
