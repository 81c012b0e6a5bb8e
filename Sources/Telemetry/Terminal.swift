import Foundation

/// What is known of the terminal behind a stream of this process.
public enum Terminal {
    /// Whether standard error is a terminal that understands control sequences.
    ///
    /// `TERM=dumb`, or no `TERM` at all, says that it does not.
    public static var isCapable: Bool { isCapable(STDERR_FILENO) }

    /// The same for a stream.
    public static func isCapable(_ descriptor: Int32) -> Bool {
        let term = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(descriptor) == 1 && !term.isEmpty && term != "dumb"
    }

    /// Columns of the terminal behind standard error at this moment; `nil` when it has none or does not say.
    public static var columns: Int? { columns(STDERR_FILENO) }

    /// Columns of the terminal behind a stream at this moment; `nil` when it has none or does not say.
    public static func columns(_ descriptor: Int32) -> Int? {
        size(descriptor).flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil }
    }

    /// Lines of the terminal behind a stream at this moment; `nil` when it has none or does not say.
    public static func lines(_ descriptor: Int32) -> Int? {
        size(descriptor).flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil }
    }

    /// Whether the locale of this process has UTF-8.
    public static var isUnicode: Bool { isUnicode(ProcessInfo.processInfo.environment) }

    /// Whether a locale's characters are UTF-8, by the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set.
    public static func isUnicode(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        let charset = locale.lowercased()
        return charset.contains("utf-8") || charset.contains("utf8")
    }

    /// Columns to fit help to: those that `COLUMNS` says, else those of standard output's terminal, else 80.
    public static var helpColumns: Int {
        ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? columns(STDOUT_FILENO) ?? 80
    }

    private static func size(_ descriptor: Int32) -> winsize? {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
    }
}
