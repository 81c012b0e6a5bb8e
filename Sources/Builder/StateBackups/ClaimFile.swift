public import Errors
internal import Files
public import Foundation

/// The claim of a coordinator in a folder that its successor may share: a catalog, or a folder of blobs.
///
/// Who changes a catalog holds the lock of this file, and reads the claim right before each change. A successor writes its
/// claim, and later changes the catalog, under the same lock.
public struct ClaimFile: Sendable {
    /// The file.
    public let url: URL
    private let own: PlaceClaim

    /// The name of the file in a folder of blobs.
    public static let blobsName = "coordinator-claim"
    /// The longest text that is read, in bytes.
    private static let most = 200

    /// The claim of a coordinator in a file, which need not exist.
    public init(_ url: URL, own: PlaceClaim) {
        self.url = url
        self.own = own
    }

    /// Makes sure that no coordinator of the same state has a higher claim; a file that cannot be read has none.
    ///
    /// Blocks for a short read.
    ///
    /// - Throws: ``BackupError`` `replaced`.
    public func check() throws(BackupError) {
        guard let other = Self.read(url), other.lineage == own.lineage, other > own else { return }
        throw BackupError(
            .replaced,
            "A coordinator with the higher epoch \(other.epoch) and the same state has taken over '\(url.deletingLastPathComponent().path)'; this one has epoch \(own.epoch) and changes nothing more.",
            hint: "end this one; if the other one has ended for ever, remove '\(url.path)'")
    }

    /// The claim in a file; `nil` for a file that cannot be read, or has none.
    ///
    /// Blocks for a short read.
    public static func read(_ url: URL) -> PlaceClaim? {
        let handle = open(url.path, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { return nil }
        defer { close(handle) }
        var bytes = [UInt8](repeating: 0, count: most)
        let count = pread(handle, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
        return PlaceClaim(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Writes the claim, unless a coordinator of the same state has a higher one.
    ///
    /// Blocks.
    ///
    /// - Parameter patience: How long a change that is under way is waited for; then the claim is written without the lock.
    /// - Throws: ``BackupError`` `replaced`; `StorageError`.
    public func announce(within patience: Duration = .seconds(5)) throws {
        let handle = open(url.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard handle >= 0 else { throw StorageError.system(errno, action: "open", path: url.path) }
        defer { close(handle) }
        let end = ContinuousClock.now + patience
        // A file system without locks refuses at once.
        while flock(handle, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end {
            // `flock` has no limit of time. Only the start of a coordinator waits here, and nothing else runs on its thread.
            usleep(20_000)
        }
        try check()
        let bytes = Array("\(own)\n".utf8)
        guard pwrite(handle, bytes, bytes.count, 0) == bytes.count, ftruncate(handle, off_t(bytes.count)) == 0,
            fsync(handle) == 0
        else { throw StorageError.system(errno, action: "write", path: url.path) }
    }
}
