internal import CommandSupport
import Errors
import Foundation
import Synchronization
import Telemetry

/// The standard error of a child process: each line is passed on, and the last ones are kept for the error with which it
/// ends.
final class ChildLog: Sendable {
    private static let maxLines = 20

    private let lines: Lines
    private let pipe: LinePipe

    private final class Lines: Sendable { let last = Mutex<[String]>([]) }

    /// - Parameter write: Writes a line of the process; called on a thread of its own.
    /// - Throws: ``CLIError`` 73 when the process has no descriptors left.
    init(_ write: @escaping @Sendable (String) -> Void) throws {
        let lines = Lines()
        self.lines = lines
        pipe = try LinePipe { line in
            lines.last.withLock { last in
                if last.count == Self.maxLines { last.removeFirst() }
                last.append(Self.withoutMark(line))
            }
            write(line)
        }
    }

    /// The line without the priority that a process writes for the journal.
    static func withoutMark(_ line: String) -> String {
        Journal.isReader ? String(Journal.divided(line).text) : line
    }

    /// The end that the process writes to.
    var writing: FileHandle { pipe.writing }

    /// Called when the process has been started.
    func wasStarted() { pipe.closeWriting() }

    /// Blocks until all lines of an ended process were passed on.
    func waitForEnd() { pipe.waitForEnd() }

    /// What the process said last, without the prefix of an error.
    var lastWords: String { lines.last.withLock { ChildLogText.lastWords($0) } }

    /// The hint of its last error.
    var hint: String? { lines.last.withLock { ChildLogText.hint($0) } }
}

/// Reads the end of a child's log.
enum ChildLogText {
    private static let error = "packhorse: error: "
    private static let hint = "hint: "

    /// The last error among the lines, else the last line that is no hint.
    static func lastWords(_ lines: [String]) -> String {
        let said = lines.filter { !$0.hasPrefix(hint) }
        guard let last = said.last(where: { $0.hasPrefix(error) }) ?? said.last else { return "it logged nothing" }
        return last.replacingOccurrences(of: error, with: "")
    }

    /// The hint of the last error.
    static func hint(_ lines: [String]) -> String? {
        lines.last { $0.hasPrefix(hint) }.map { String($0.dropFirst(hint.count)) }
    }
}

/// A file to which the lines of a process are appended.
final class LogFile: Sendable {
    private let file: FileHandle

    /// - Throws: ``CLIError`` 73 when the file cannot be opened.
    init(_ url: URL) throws {
        let descriptor = open(url.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw CLIError(
                .cannotCreate, "the log '\(url.path)' cannot be written: \(String(cString: strerror(errno)))",
                hint: "choose a writable folder")
        }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Appends a line.
    func write(_ line: String) {
        // A full disk loses lines of the log; the process itself says what it cannot write.
        try? file.write(contentsOf: Data((ChildLog.withoutMark(line) + "\n").utf8))
    }
}
