import Foundation

/// The two streams of a command: standard output carries the result only, standard error everything said to a person.
enum Console {
    /// Writes a line of the result.
    static func result(_ line: String) {
        write(line, to: .standardOutput)
    }

    /// Writes a line for the person at the terminal.
    static func note(_ line: String) {
        write(line, to: .standardError)
    }

    /// Rewrites the current line of a terminal.
    static func redraw(_ line: String) {
        FileHandle.standardError.write(Data("\r\u{1B}[K\(line)".utf8))
    }

    /// Replaces what the terminal shows.
    static func screen(_ lines: [String]) {
        result("\u{1B}[H\u{1B}[2J" + lines.joined(separator: "\n"))
    }

    /// Lines of the terminal; 40 when standard output is none.
    static var height: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 40 }
        return Int(size.ws_row)
    }

    /// Whether standard error is a terminal that understands control sequences.
    static var isTerminal: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Writes to a stream; what cannot be written ends the process with 74, unless nobody reads any more.
    private static func write(_ line: String, to stream: FileHandle) {
        do {
            try stream.write(contentsOf: Data((line + "\n").utf8))
        } catch {
            // A closed pipe (`packhorse jobs | head -1`) ends the reader's interest, not the command.
            guard errno != EPIPE, stream === FileHandle.standardOutput else { return }
            note("packhorse: error: the result cannot be written: \(String(cString: strerror(errno)))")
            exit(ExitStatus.inputOutput.rawValue)
        }
    }
}
