import Foundation
import Synchronization

/// Standard error of this process: whole lines, and at most one status line below them, such as a progress bar.
///
/// Messages and logs go through one lock. A message takes the status line's place, and the status line is drawn again below
/// it, so no remains of it stay on the terminal.
public enum StatusLine {
    private struct State {
        /// The status line and the columns that it fills; `nil` = none is drawn.
        var drawn: (text: String, columns: Int)?
    }

    private static let state = Mutex(State())

    /// Writes a line; line breaks in it and control sequences are the caller's.
    public static func write(_ line: String) {
        aside { put(line + "\n") }
    }

    /// Draws the status line, in the place of the one before.
    ///
    /// - Parameters:
    ///   - text: Without line breaks and control characters.
    ///   - columns: How many columns the text fills.
    public static func draw(_ text: String, columns: Int) {
        state.withLock { state in
            put(erasure(state) + text)
            state.drawn = (text, columns)
        }
    }

    /// Takes the status line away.
    public static func clear() {
        state.withLock { state in
            put(erasure(state))
            state.drawn = nil
        }
    }

    /// Ends the status line where it stands: what follows begins on a line of its own.
    ///
    /// - Parameter always: Whether the line is ended even when no status line is drawn: the terminal may have echoed `^C`.
    public static func leave(always: Bool = false) {
        state.withLock { state in
            if state.drawn != nil || always { put("\n") }
            state.drawn = nil
        }
    }

    /// Runs `body`, which writes whole lines to the terminal by another way, while the status line is away.
    public static func aside<Result>(_ body: () throws -> Result) rethrows -> Result {
        try state.withLock { state in
            put(erasure(state))
            defer {
                // After a change of the size it may not fit any more; the next drawing does.
                if let drawn = state.drawn, drawn.columns < Terminal.columns ?? .max { put(drawn.text) }
            }
            return try body()
        }
    }

    /// What removes the status line, also after the terminal has become narrower and shows it in several rows.
    private static func erasure(_ state: State) -> String {
        guard let drawn = state.drawn else { return "" }
        let above = Terminal.columns.map { max(0, drawn.columns - 1) / $0 } ?? 0
        return "\r" + (above > 0 ? "\u{1B}[\(above)A" : "") + "\u{1B}[J"
    }

    /// A message that cannot be written is lost: there is no other place to say so.
    private static func put(_ text: String) {
        guard !text.isEmpty else { return }
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
