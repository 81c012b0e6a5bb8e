internal import CFile
public import Foundation

/// A short text that a file carries beside its bytes, in an extended attribute; copies of the file usually lose it.
public enum FileMark {
    private static let name = "user.packhorse.build"
    private static let mostBytes = 256

    /// The mark of a file; `nil` when it has none, or its file system keeps none.
    public static func read(_ url: URL) -> String? {
        var bytes = [UInt8](repeating: 0, count: mostBytes)
        let count = ph_get_mark(url.path, name, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// Marks a file.
    ///
    /// - Parameter text: At most 256 bytes.
    /// - Returns: Whether the file system keeps marks.
    @discardableResult
    public static func write(_ text: String, to url: URL) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count <= mostBytes && ph_set_mark(url.path, name, bytes, bytes.count) == 0
    }
}
