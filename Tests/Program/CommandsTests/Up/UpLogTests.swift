import Foundation
import Synchronization
import Testing

@testable import Commands

/// The one log of `packhorse up`.
struct UpLogTests {
    @Test func linesHaveTheNameOfTheirProcess() {
        let log = UpLog(isJSON: false, width: 11)
        #expect(log.text("a line", of: "worker-1") == "worker-1    | a line")
        #expect(log.text("", of: "coordinator") == "coordinator | ")
    }

    @Test(arguments: [#"{"level":"info","message":"Job done"}"#, "packhorse: error: no", #"{"not an object"#])
    func linesOfJSONStayJSON(line: String) throws {
        let text = UpLog(isJSON: true, width: 11).text(line, of: "worker-1")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String])
        #expect(object["packhorse.process"] == "worker-1")
        #expect(object["message"] == (line.hasPrefix("{\"level") ? "Job done" : line))
        #expect(
            object["level"] == (line.hasPrefix("packhorse: error") ? "error" : line.hasSuffix("}") ? "info" : "notice"))
    }

    @Test func bytesAreCutIntoLines() {
        var lines = LineSplitter()
        #expect(lines.add(Array("one\ntw".utf8)) == ["one"])
        #expect(lines.add(Array("o\n\nrest".utf8)) == ["two", ""])
        #expect(lines.rest == "rest")
        #expect(lines.add([10]) == ["rest"])
        #expect(lines.rest == nil)
        let long = lines.add([UInt8](repeating: 65, count: LineSplitter.maxBytes + 1))
        #expect(long.map(\.utf8.count) == [LineSplitter.maxBytes] && lines.rest == "A")
    }

    /// The lines of a real pipe arrive, and its end is waited for.
    @Test func aPipeGivesItsLines() throws {
        final class Lines: Sendable { let all = Mutex<[String]>([]) }
        let lines = Lines()
        let pipe = try LinePipe { line in lines.all.withLock { $0.append(line) } }
        try pipe.writing.write(contentsOf: Data("one\ntwo\nrest".utf8))
        pipe.closeWriting()
        pipe.waitForEnd()
        #expect(lines.all.withLock { $0 } == ["one", "two", "rest"])
    }

    @Test func theLastErrorOfAProcessIsFound() {
        let lines = ["log", "packhorse: error: port in use", "hint: choose another port"]
        #expect(ChildLogText.lastWords(lines) == "port in use")
        #expect(ChildLogText.hint(lines) == "choose another port")
        #expect(ChildLogText.lastWords(["a", "b"]) == "b")
        #expect(ChildLogText.lastWords([]) == "it logged nothing")
        #expect(ChildLogText.hint(["a"]) == nil)
    }

    @Test func aPortInUseIsRefusedWithItsOption() throws {
        let listener = try Listener()
        let error = try #require(throws: CLIErrorText.self) {
            do { try LoopbackPort.requireFree(listener.port, option: "--port") } catch {
                throw CLIErrorText(text: "\(error)")
            }
        }
        #expect(error.text.contains("port \(listener.port) of 127.0.0.1 is in use") && error.text.contains("--port"))
    }
}

/// The printed lines of an error.
private struct CLIErrorText: Error { let text: String }

/// A socket that listens on a free port of 127.0.0.1.
private final class Listener {
    private let descriptor: Int32
    let port: Int

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard result else { throw POSIXError(.EADDRINUSE) }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
