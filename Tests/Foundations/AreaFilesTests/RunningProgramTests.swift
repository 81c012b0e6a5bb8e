import Foundation
import Testing

@testable import AreaFiles

struct RunningProgramTests {
    private static func run(_ script: String, _ environment: [String: String] = [:]) throws -> RunningProgram {
        try RunningProgram("/bin/sh", arguments: ["-c", script], environment: environment)
    }

    private static func text(_ handle: FileHandle) throws -> String {
        String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    }

    @Test func bothOutputsAndTheEndAreItsOwn() throws {
        let running = try Self.run(#"printf "$WORD"; printf fault >&2; cat; exit 3"#, ["WORD": "à b"])
        #expect(try Self.text(running.output) == "à b")
        #expect(try Self.text(running.errors) == "fault")
        let end = running.wait()
        #expect(end == .code(3))
        #expect("\(end)" == "ended with exit code 3")
        running.terminate()
    }

    /// A file that this process left open for others does not reach it.
    @Test func itHasOnlyThreeOpenFiles() throws {
        let file = open("/dev/null", O_RDONLY)
        let copy = fcntl(file, F_DUPFD, 100)
        defer { for number in [file, copy] { close(number) } }
        try #require(copy >= 100)
        let running = try Self.run("for n in 0 1 2 \(copy); do [ -e /proc/$$/fd/$n ] && echo $n; done; exit 0")
        #expect(try Self.text(running.output) == "0\n1\n2\n")
        #expect(running.wait() == .code(0))
    }

    @Test func itEndsWhenItIsAsked() throws {
        let running = try Self.run("echo ready; exec sleep 60")
        #expect(try running.output.read(upToCount: 6) == Data("ready\n".utf8))
        running.terminate()
        let end = running.wait()
        #expect(end == .signal(SIGTERM))
        #expect("\(end)" == "was ended by signal 15")
    }

    @Test func aMissingProgramIsAnErrorNumber() {
        let failure = #expect(throws: RunningProgram.StartFailed.self) {
            try RunningProgram("/nonexistent/program", arguments: [], environment: [:])
        }
        #expect(failure?.number == ENOENT)
    }
}
