import Foundation
import Testing

/// A real terminal of a chosen size in which a program runs: a tmux server of one test.
final class Tmux {
    private let socket = "packhorse-\(UUID().uuidString.prefix(8))"
    private let scratch: Scratch

    /// The program, where there is one.
    static let program = ["/usr/bin/tmux", "/usr/local/bin/tmux"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Starts a shell command in a terminal; the terminal stays when the command has ended.
    init(columns: Int, rows: Int = 24, environment: [String: String], command: String, in scratch: Scratch) async throws
    {
        self.scratch = scratch
        let settings = environment.sorted { $0.key < $1.key }.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
        // The shell survives Ctrl-C. The terminal's content after the command's end shows how it ended.
        let line =
            "trap : INT; env -u LC_ALL -u LC_CTYPE -u NO_COLOR \(settings) \(command); echo \"ended $?\"; exec sleep 600"
        try await run(
            "-f", "/dev/null", "-u", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "sh", "-c", line)
    }

    deinit {
        let process = Process()
        process.executableURL = URL(filePath: Self.program ?? "")
        process.arguments = ["-L", socket, "kill-server"]
        process.standardError = FileHandle.nullDevice
        try? process.run()
        process.waitUntilExit()
    }

    /// The lines that the terminal shows, without empty ones at the end.
    func lines() async throws -> [String] {
        var lines = try await run("capture-pane", "-p").components(separatedBy: "\n")
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    func press(_ key: String) async throws { try await run("send-keys", key) }

    func resize(columns: Int, rows: Int = 24) async throws {
        try await run("resize-window", "-x", "\(columns)", "-y", "\(rows)")
    }

    @discardableResult
    private func run(_ arguments: String...) async throws -> String {
        let tmux = try #require(Self.program)
        // The server outlives the call. Descriptors of other tests' processes that it inherited would hide their ends, and with
        // signals that it inherited as blocked, its shells would not end with it.
        let closing =
            "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, ()); "
            + "os.closerange(3, 4096); os.execv(sys.argv[1], sys.argv[1:])"
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/python3"), ["-c", closing, tmux, "-L", socket] + arguments, in: scratch)
        try #require(outcome.status == 0, "tmux \(arguments): \(outcome.errors)")
        return outcome.output
    }
}
