import Foundation
public import Logging

/// The journal of systemd as the reader of standard error.
///
/// It takes the priority of a line from `<N>` in front of it (`sd-daemon(3)`), and knows the time itself.
public enum Journal {
    /// Priorities of `syslog(3)` that Packhorse uses.
    public enum Priority: Int, Sendable {
        case critical = 2
        case error, warning, notice, info, debug

        /// The priority of a level.
        public init(_ level: Logger.Level) {
            self =
                switch level {
                case .critical: .critical
                case .error: .error
                case .warning: .warning
                case .notice: .notice
                case .info: .info
                case .debug, .trace: .debug
                }
        }
    }

    /// Whether standard error of this process goes to the journal.
    public static let isReader = isReader(ProcessInfo.processInfo.environment)

    /// Whether a stream is the one of `JOURNAL_STREAM`: DEVICE:INODE.
    ///
    /// The variable alone says nothing, because children inherit it and may write elsewhere.
    static func isReader(_ environment: [String: String], _ descriptor: Int32 = STDERR_FILENO) -> Bool {
        guard let stream = environment["JOURNAL_STREAM"] else { return false }
        var status = stat()
        return fstat(descriptor, &status) == 0 && stream == name(status)
    }

    /// The value of `JOURNAL_STREAM` with which a process that writes to a descriptor puts priorities before its lines.
    ///
    /// - Returns: `nil` when the descriptor is not open.
    public static func stream(of descriptor: Int32) -> String? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? name(status) : nil
    }

    /// What is written before a line: `<4>` for the journal, else nothing.
    public static func mark(_ priority: Priority) -> String { isReader ? "<\(priority.rawValue)>" : "" }

    /// Divides a line into its priority and the rest; the priority is empty for a line without one.
    public static func divided(_ line: String) -> (mark: Substring, text: Substring) {
        let bytes = Array(line.utf8.prefix(3))
        guard bytes.count == 3, bytes[0] == UInt8(ascii: "<"), (0x30...0x37).contains(bytes[1]),
            bytes[2] == UInt8(ascii: ">")
        else { return ("", line[...]) }
        return (line.prefix(3), line.dropFirst(3))
    }

    private static func name(_ status: stat) -> String { "\(status.st_dev):\(status.st_ino)" }
}
