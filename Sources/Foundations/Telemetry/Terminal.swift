import Foundation

/// Properties of the terminal behind a stream of this process.
public enum Terminal {
    /// Whether standard error is a terminal that understands control sequences.
    ///
    /// False for `TERM=dumb` and without `TERM`.
    public static var isCapable: Bool { isCapable(STDERR_FILENO) }

    /// The same for a stream.
    public static func isCapable(_ descriptor: Int32) -> Bool {
        let term = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(descriptor) == 1 && !term.isEmpty && term != "dumb"
    }

    /// Current columns of the terminal behind standard error; `nil` when it is no terminal or does not report them.
    public static var columns: Int? { columns(STDERR_FILENO) }

    /// Current columns of the terminal behind a stream; `nil` when it is no terminal or does not report them.
    public static func columns(_ descriptor: Int32) -> Int? {
        size(descriptor).flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil }
    }

    /// Current lines of the terminal behind a stream; `nil` when it is no terminal or does not report them.
    public static func lines(_ descriptor: Int32) -> Int? {
        size(descriptor).flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil }
    }

    /// Whether the locale of this process has UTF-8.
    public static var isUnicode: Bool { isUnicode(ProcessInfo.processInfo.environment) }

    /// Whether a locale uses UTF-8, according to the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set.
    public static func isUnicode(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        let charset = locale.lowercased()
        return charset.contains("utf-8") || charset.contains("utf8")
    }

    /// The width of help texts in columns: `COLUMNS`, else the width of standard output's terminal, else 80.
    public static var helpColumns: Int {
        ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? columns(STDOUT_FILENO) ?? 80
    }

    private static func size(_ descriptor: Int32) -> winsize? {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
    }
}
