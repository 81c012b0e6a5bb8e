internal import CatalogFormat
internal import Digests
internal import Files
internal import Foundation

/// A file or folder whose content is known; finds out, without reading it, whether it is still the same.
struct KnownFile: Hashable, Sendable {
    /// The clock tick of a file system: two changes within one tick leave the same stamp.
    ///
    /// Unit: seconds. Linux ticks every 1 to 10 ms.
    private static let tick = 0.1

    /// The result of a comparison with the known file.
    enum Answer { case same, other, unproven }

    private let stamp: FileStamp
    /// Whether the stamp was taken so late after the change that a later change gets another stamp.
    fileprivate let isSettled: Bool

    /// - Parameter path: Where the file was before its content was read, or after it was written.
    init?(path: String) {
        guard let stamp = FileStamp(path: path) else { return nil }
        self.stamp = stamp
        isSettled = Self.wall - stamp.changed > Self.tick
    }

    /// `unproven`: the stamp is the same, but it was taken so soon after the last change that the content must be compared once more.
    func compare(path: String) -> Answer {
        guard FileStamp(path: path) == stamp else { return .other }
        return isSettled ? .same : .unproven
    }

    private static var wall: Double { Date().timeIntervalSince1970 }
}

/// A document that was read or written: its value, and the stamp of its file.
struct KnownDocument<Value: Sendable>: Sendable {
    private final class Identity: Sendable {}

    let value: Value
    /// Bytes of the document.
    let size: Int
    private let identity = Identity()
    private var file: KnownFile?
    /// What the file must hold while its stamp proves nothing: compared in a hundredth of the time that a SHA-256 takes.
    private var bytes: [UInt8]?

    /// - Parameter file: What was at the path before the bytes were read, or after they were written; `nil` = the file
    ///   must be read each time.
    init(_ value: Value, bytes: [UInt8], file: KnownFile?) {
        self.value = value
        self.file = file
        self.bytes = file?.isSettled == false ? bytes : nil
        size = bytes.count
    }

    /// Whether both are of one reading or writing.
    func isSame(as other: KnownDocument) -> Bool { identity === other.identity }

    /// Whether a file has these bytes; it is read piece by piece, because memory for a whole list costs more than the comparison.
    private static func holds(_ url: URL, _ bytes: [UInt8]) -> Bool {
        guard let file = try? FileDescriptor(reading: url), file.size == bytes.count else { return false }
        let piece = 256 << 10
        return stride(from: 0, to: bytes.count, by: piece).allSatisfy { start in
            let end = min(start + piece, bytes.count)
            guard let read = try? file.read(at: UInt64(start), count: end - start) else { return false }
            return read.withUnsafeBytes { found in
                bytes[start..<end].withUnsafeBytes { known in
                    guard let one = found.baseAddress, let other = known.baseAddress else { return true }
                    return memcmp(one, other, end - start) == 0
                }
            }
        }
    }

    /// The same document if the file still holds its bytes; `nil` when it has to be read again.
    func ifCurrent(at url: URL) -> KnownDocument? {
        var copy = self
        switch file?.compare(path: url.path) {
        case .same:
            copy.bytes = nil
            return copy
        case .other, nil: return nil
        case .unproven:
            // A file that cannot be read is not known.
            guard let again = KnownFile(path: url.path), let bytes, Self.holds(url, bytes) else { return nil }
            copy.file = again
            if again.isSettled { copy.bytes = nil }
            return copy
        }
    }
}

/// A list of packages, and the SHA-256 of its document, which `catalog.json` names.
struct KnownList: Sendable {
    let list: CatalogList
    let digest: Digest

    init(_ list: CatalogList, bytes: [UInt8]) {
        self.list = list
        digest = Digest(of: bytes)
    }
}
