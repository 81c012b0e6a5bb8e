import Digests
import Errors
import Files
import Foundation
import OfflineMaps

/// The files that a store offers to other devices: those that are installed now, and whose digests were compared.
actor SharedFiles {
    /// A file as it was when its digest was compared.
    private struct Stamp: Hashable {
        var path: String
        var inode: UInt64
        var size: Int64
        var changed: Int64

        init?(_ place: URL) {
            var status = stat()
            guard stat(place.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            (path, inode, size) = (place.path, UInt64(status.st_ino), Int64(status.st_size))
            changed = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        }
    }

    private let store: MapStore
    private var last: MapShare?
    private var proven: [Stamp: Bool] = [:]
    /// Comparisons that are under way: a file is read once, however many devices ask for it.
    private var running: [Stamp: Task<Bool?, Never>] = [:]

    init(_ store: MapStore) { self.store = store }

    /// The present list, and the files that are installed.
    ///
    /// - Throws: `StoreError` when no list was read yet, or the store cannot be read.
    func share() async throws(StoreError) -> MapShare {
        let share = try await store.share(after: last)
        last = share
        return share
    }

    /// The files whose bytes are those of the list; reads files that were not read before.
    ///
    /// - Parameter damaged: Gets each file that is damaged or gone.
    func wholeFiles(_ damaged: @Sendable (MapShare.File) -> Void = { _ in }) async throws(StoreError) -> [MapShare.File]
    {
        var whole: [MapShare.File] = []
        for (_, file) in try await share().files.sorted(by: { $0.key < $1.key }) {
            if await isWhole(file) { whole.append(file) } else { damaged(file) }
        }
        return whole
    }

    /// Whether a file has the bytes of the list.
    func isWhole(_ file: MapShare.File) async -> Bool {
        guard let stamp = Stamp(file.place), UInt64(clamping: stamp.size) == file.listed.size else { return false }
        if let known = proven[stamp] { return known }
        let comparison =
            running[stamp]
            ?? Task {
                // A file that cannot be read is not offered.
                let found = try? await FileWork.run { try Digest.ofFile(file.place) }
                return found.map { $0.size == file.listed.size && $0.digest.hex == file.listed.sha256 }
            }
        running[stamp] = comparison
        let isWhole = await comparison.value
        running[stamp] = nil
        // One that was replaced meanwhile is compared again.
        if let isWhole, Stamp(file.place) == stamp { proven[stamp] = isWhole }
        return isWhole ?? false
    }
}
