internal import CFile
public import Foundation

/// A short text in an extended attribute of a file; copies of the file usually do not have it.
public enum FileMark {
    private static let name = "user.packhorse.build"
    private static let maxBytes = 256

    /// The mark of a file; `nil` if it has none, or if its file system does not support it.
    public static func read(_ url: URL) -> String? {
        var bytes = [UInt8](repeating: 0, count: maxBytes)
        let count = ph_get_mark(url.path, name, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// Marks a file.
    ///
    /// - Parameter text: At most 256 bytes.
    /// - Returns: Whether the file system supports marks.
    @discardableResult
    public static func write(_ text: String, to url: URL) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count <= maxBytes && ph_set_mark(url.path, name, bytes, bytes.count) == 0
    }
}
