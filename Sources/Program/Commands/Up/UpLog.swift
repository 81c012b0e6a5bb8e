internal import CommandSupport
import Foundation
import Telemetry

/// The one log of `packhorse up`: each line of a process with its name.
struct UpLog: Sendable {
    let isJSON: Bool
    /// Columns of the longest name.
    let width: Int

    /// Writes a line of a process to standard error.
    func write(_ line: String, of name: String) {
        let (mark, rest) = Journal.isReader ? Journal.divided(line) : ("", line[...])
        Console.note(mark + text(String(rest), of: name))
    }

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
