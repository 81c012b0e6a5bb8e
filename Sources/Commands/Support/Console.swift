import Foundation
import Telemetry
import Tiles

/// The two streams of a command: standard output carries the result only, standard error everything said to a person.
///
/// All output of commands goes through here. Every line may hold names, ids, paths and answers of servers, so control characters
/// in it are written as escapes (``VisibleText``); the control sequences of the terminal are added here and nowhere else.
enum Console {
    /// Writes a line of the result.
    static func result(_ line: String) { write([line]) }

    /// Writes a JSON document as the result.
    static func result(_ document: JSONDocument) { write(document.lines) }

    /// Writes a line for the person at the terminal.
    static func note(_ line: String) { StatusLine.write(VisibleText.escaped(line)) }

    /// Writes an error with its details and its remedy.
    static func error(_ error: CLIError) { error.lines.forEach(note) }

    /// Writes a warning.
    static func warning(_ text: String) { note("packhorse: warning: \(text)") }

    /// Writes own text as it is: help, scripts and manual pages, which hold nothing from outside.
    static func page(_ text: String) { writeBytes(Data((text + "\n").utf8)) }

    /// Shows how far something is, in one line of the terminal that is drawn again and again.
    static func draw(_ bar: ProgressBar) {
        let columns = Terminal.columns ?? 80
        let line = VisibleText.escaped(bar.line(columns: columns, isUnicode: Terminal.isUnicode))
        StatusLine.draw(line, columns: DisplayWidth.columns(line))
    }

    /// Takes away what ``draw(_:)`` drew.
    static func clearBar() { StatusLine.clear() }

    /// Replaces what the terminal shows; lines are cut to its columns.
    static func screen(_ lines: [String]) {
        let columns = Terminal.columns(STDOUT_FILENO) ?? .max
        let shown = lines.map { DisplayWidth.cut(VisibleText.escaped($0), to: columns) }
        writeBytes(Data(("\u{1B}[H\u{1B}[2J" + shown.joined(separator: "\n") + "\n").utf8))
    }

    /// Lines of the terminal; 40 when standard output is none.
    static var height: Int { Terminal.lines(STDOUT_FILENO) ?? 40 }

    /// Whether standard error is a terminal that understands control sequences.
    static var isTerminal: Bool { Terminal.isCapable }

    private static func write(_ lines: [String]) {
        writeBytes(Data(lines.map { VisibleText.escaped($0) + "\n" }.joined().utf8))
    }

    /// Writes to standard output; what cannot be written ends the process with 74, unless the reader has gone.
    private static func writeBytes(_ bytes: Data) {
        do {
            try StatusLine.aside { try FileHandle.standardOutput.write(contentsOf: bytes) }
        } catch {
            // A closed pipe (`packhorse jobs | head -1`) ends the reader's interest, not the command.
            guard errno != EPIPE else { return }
            self.error(CLIError(.inputOutput, "the result cannot be written: \(String(cString: strerror(errno)))"))
            exit(ExitStatus.inputOutput.rawValue)
        }
    }
}
