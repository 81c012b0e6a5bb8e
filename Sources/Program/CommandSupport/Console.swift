import Errors
import Foundation
import Synchronization
import Telemetry
import Tiles

/// The two streams of a command: standard output has only the result, standard error all messages for people.
///
/// All output of commands is written here. Lines may contain external text (names, ids, paths, answers of servers), so
/// control characters in them are written as escapes (``VisibleText``). Control sequences of the terminal are added
/// only here.
package enum Console {
    /// Whether each line on standard error is a JSON object, as `--progress json` promises.
    private static let writesJSON = Atomic(false)

    /// Whether notes and progress are left out, as `--quiet` asks.
    private static let isQuiet = Atomic(false)

    /// From now on writes no notes and no progress; warnings, errors, results and what `--progress json` asks for stay.
    package static func leaveNotesOut() { isQuiet.store(true, ordering: .relaxed) }

    /// From now on writes each line on standard error as a JSON object: `{"note": "…"}` or `{"warning": "…"}`.
    package static func writeMessagesAsJSON() { writesJSON.store(true, ordering: .relaxed) }

    /// Writes a line of the result.
    package static func result(_ line: String) { write([line]) }

    /// Writes a JSON document as the result.
    package static func result(_ document: JSONDocument) { write(document.lines) }

    /// Writes a table; in a terminal without the columns for which there is no room, which a note names.
    ///
    /// - Parameter lessNeeded: Titles of columns that may be left out, the first one first.
    package static func result(_ table: Table, lessNeeded: [String]) {
        let (lines, hidden) = table.lines(within: Terminal.columns(STDOUT_FILENO) ?? .max, lessNeeded: lessNeeded)
        write(lines)
        guard !hidden.isEmpty else { return }
        note("not shown here: \(hidden.joined(separator: ", ")); a wider terminal or --json shows them")
    }

    /// Writes a line for the user.
    package static func note(_ line: String) {
        guard !isQuiet.load(ordering: .relaxed) else { return }
        guard !writesJSON.load(ordering: .relaxed) else { return message("note", line) }
        StatusLine.write(VisibleText.escaped(line))
    }

    /// Writes a line on standard error that is JSON already: progress, or an error.
    package static func noteJSON(_ line: String) { StatusLine.write(VisibleText.escaped(line)) }

    private static func message(_ kind: String, _ text: String) {
        // A dictionary of texts can always be encoded.
        guard let line = try? JSONText.line([kind: text]) else { return }
        noteJSON(line)
    }

    /// Writes an error with its details and its remedy.
    package static func error(_ error: CLIError) {
        for line in error.lines { note(line, .error) }
    }

    /// Writes a warning.
    package static func warning(_ text: String) {
        guard !writesJSON.load(ordering: .relaxed) else { return message("warning", text) }
        note("packhorse: warning: \(text)", .warning)
    }

    private static func note(_ line: String, _ priority: Journal.Priority) {
        guard !writesJSON.load(ordering: .relaxed) else { return message("note", line) }
        StatusLine.write(Journal.mark(priority) + VisibleText.escaped(line))
    }

    /// Writes our own text unchanged: help, scripts and manual pages, which contain no external text.
    package static func page(_ text: String) { writeBytes(Data((text + "\n").utf8)) }

    /// Shows progress in one line of the terminal that is redrawn.
    package static func draw(_ bar: ProgressBar) {
        guard !isQuiet.load(ordering: .relaxed) else { return }
        let columns = Terminal.columns ?? 80
        let line = VisibleText.escaped(bar.line(columns: columns, isUnicode: Terminal.isUnicode))
        StatusLine.draw(line, columns: DisplayWidth.columns(line))
    }

    /// Removes the line of ``draw(_:)``.
    package static func clearBar() { StatusLine.clear() }

    /// Replaces the content of the terminal.
    ///
    /// Lines are cut to its columns.
    package static func screen(_ lines: [String]) {
        let columns = Terminal.columns(STDOUT_FILENO) ?? .max
        let shown = lines.map { DisplayWidth.cut(VisibleText.escaped($0), to: columns) }
        writeBytes(Data(("\u{1B}[H\u{1B}[2J" + shown.joined(separator: "\n") + "\n").utf8))
    }

    /// Lines of the terminal; 40 when standard output is not a terminal.
    package static var height: Int { Terminal.lines(STDOUT_FILENO) ?? 40 }

    /// Whether standard error is a terminal that understands control sequences.
    package static var isTerminal: Bool { Terminal.isCapable }

    private static func write(_ lines: [String]) {
        writeBytes(Data(lines.map { VisibleText.escaped($0) + "\n" }.joined().utf8))
    }

    /// Writes to standard output.
    ///
    /// A write error ends the process with 74, unless the reader has closed the pipe.
    private static func writeBytes(_ bytes: Data) {
        do {
            try StatusLine.aside { try FileHandle.standardOutput.write(contentsOf: bytes) }
        } catch {
            // A closed pipe (`packhorse jobs | head -1`) is not an error.
            guard errno != EPIPE else { return }
            self.error(CLIError(.inputOutput, "the result cannot be written: \(String(cString: strerror(errno)))"))
            exit(ExitStatus.inputOutput.rawValue)
        }
    }
}
