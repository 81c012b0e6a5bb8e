import Foundation
import Synchronization

/// Standard error of this process: complete lines, and at most one status line below them, such as a progress bar.
///
/// Messages and logs use one lock. A message replaces the status line, and the status line is drawn again below it, so
/// that no part of the old one stays on the terminal.
public enum StatusLine {
    private struct State {
        /// The status line and its width in columns; `nil` = none is drawn.
        var drawn: (text: String, columns: Int)?
    }

    private static let state = Mutex(State())

    /// Writes a line.
    ///
    /// The caller is responsible for line breaks and control sequences in it.
    public static func write(_ line: String) {
        aside { writeToStandardError(line + "\n") }
    }

    /// Draws the status line in place of the previous one.
    ///
    /// - Parameters:
    ///   - text: Without line breaks and control characters.
    ///   - columns: The width of the text in columns.
    public static func draw(_ text: String, columns: Int) {
        state.withLock { state in
            writeToStandardError(erasure(state) + text)
            state.drawn = (text, columns)
        }
    }

    /// Removes the status line.
    public static func clear() {
        state.withLock { state in
            writeToStandardError(erasure(state))
            state.drawn = nil
        }
    }

    /// Ends the status line at its place: later output begins on a new line.
    ///
    /// - Parameter always: Whether a line break is written even when no status line is drawn: the terminal may have
    ///   echoed `^C`.
    public static func leave(always: Bool = false) {
        state.withLock { state in
            if state.drawn != nil || always { writeToStandardError("\n") }
            state.drawn = nil
        }
    }

    /// Runs `body`, which writes complete lines to the terminal in another way, while the status line is removed.
    public static func aside<Result>(_ body: () throws -> Result) rethrows -> Result {
        try state.withLock { state in
            writeToStandardError(erasure(state))
            defer {
                // After a change of the terminal's size it may not fit any more. The next one that is drawn does.
                if let drawn = state.drawn, drawn.columns < Terminal.columns ?? .max {
                    writeToStandardError(drawn.text)
                }
            }
            return try body()
        }
    }

    /// The control sequence that removes the status line, also after the terminal has become narrower and shows it in
    /// several rows.
    private static func erasure(_ state: State) -> String {
        guard let drawn = state.drawn else { return "" }
        let above = Terminal.columns.map { max(0, drawn.columns - 1) / $0 } ?? 0
        return "\r" + (above > 0 ? "\u{1B}[\(above)A" : "") + "\u{1B}[J"
    }

    /// A message that cannot be written is lost: there is no other place to report it.
    private static func writeToStandardError(_ text: String) {
        guard !text.isEmpty else { return }
        // There is no other place to report it.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
