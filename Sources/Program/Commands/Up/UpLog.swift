internal import CommandSupport
import Foundation
import Synchronization
import Telemetry

/// The one log of `packhorse up`: each line of a process with its name.
struct UpLog: Sendable {
    let isJSON: Bool
    /// Columns of the longest name.
    let width: Int

    /// Writes a line of a process to standard error.
    func write(_ line: String, of name: String) { Console.note(text(line, of: name)) }

    /// The line as it is written: `worker-1    | LINE`, or a JSON object with the name as ``LogKey/process``.
    func text(_ line: String, of name: String) -> String {
        guard isJSON else {
            let padding = String(repeating: " ", count: max(0, width - name.count))
            return "\(name)\(padding) | \(line)"
        }
        // A line that is no object is the error with which a process ends.
        guard line.hasPrefix("{\""), line.hasSuffix("}") else { return object(line, of: name) }
        return "{\"\(LogKey.process)\":\"\(name)\"," + line.dropFirst()
    }

    private func object(_ line: String, of name: String) -> String {
        let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let level = line.hasPrefix("packhorse: error: ") ? "error" : "notice"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let fields = ["level": level, "message": line, LogKey.process: name, "time": time]
        // Texts can always be encoded.
        return (try? encoder.encode(fields)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// The log of a child process, which is written to the log of this one line by line.
final class RelayedLog: ChildLog, Sendable {
    /// The last lines of a process.
    private final class LastLines: Sendable {
        private static let maxLines = 20
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) {
            lines.withLock { lines in
                if lines.count == Self.maxLines { lines.removeFirst() }
                lines.append(line)
            }
        }
    }

    private let last = LastLines()
    private let pipe: LinePipe

    /// - Throws: ``CLIError`` 73 when the process has no descriptors left.
    init(_ log: UpLog, name: String) throws {
        pipe = try LinePipe { [last] line in
            last.add(line)
            log.write(line, of: name)
        }
    }

    var writing: FileHandle { pipe.writing }
    func wasStarted() { pipe.closeWriting() }
    /// Blocks until all lines of an ended process are written.
    func waitForEnd() { pipe.waitForEnd() }
    var lastWords: String { ChildLogText.lastWords(last.all) }
    var hint: String { ChildLogText.hint(last.all) ?? "see its lines above" }
}
