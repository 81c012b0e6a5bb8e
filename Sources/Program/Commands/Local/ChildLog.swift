internal import CommandSupport
import Errors
import Foundation

/// Where a child process writes its log, and what it last wrote there.
protocol ChildLog {
    /// The standard error of the process.
    var writing: FileHandle { get }
    /// Called when the process has been started.
    func wasStarted()
    /// What it said last, without the prefix of an error.
    var lastWords: String { get }
    /// What the user can do, for the error of a process that has ended.
    var hint: String { get }
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

/// A log that is appended to a file.
struct ChildLogFile: ChildLog {
    let writing: FileHandle
    private let file: URL
    /// The position of the process's first line.
    private let start: UInt64

    /// - Throws: ``CLIError`` 73 when the file cannot be written.
    init(_ file: URL) throws {
        self.file = file
        let descriptor = open(file.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw CLIError(
                .cannotCreate, "the log '\(file.path)' cannot be written: \(String(cString: strerror(errno)))",
                hint: "choose a writable folder")
        }
        writing = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        start = try writing.seekToEnd()
    }

    func wasStarted() {}

    var lastWords: String {
        let bytes = FileManager.default.contents(atPath: file.path) ?? Data()
        let text = String(decoding: bytes.dropFirst(Int(clamping: start)), as: UTF8.self)
        return ChildLogText.lastWords(text.split(separator: "\n").map(String.init))
    }

    var hint: String { "see its log: \(file.path)" }
}
