internal import Errors
internal import Foundation

/// A file to which each request is appended as one line, in one write, so that readers never see a partial line.
final class RequestLog: Sendable {
    private let descriptor: Int32

    /// Opens or makes the file.
    ///
    /// - Throws: ``DemoWorldError`` `.cannotLog` when it cannot be written.
    init(_ path: String) throws(DemoWorldError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw DemoWorldError(
                .cannotLog,
                "the request log '\(path)' cannot be written: \(String(cString: strerror(errno)))",
                cause: nil)
        }
    }

    deinit { close(descriptor) }

    /// Appends a line; on a full disk the line is lost.
    func append(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
}
