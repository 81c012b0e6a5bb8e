internal import CatalogFormat
internal import Synchronization

/// The lists of packs that were read last, by their digests: map views ask for one pack after another.
final class PackListCache: Sendable {
    private static let maxLists = 4
    private let lists = Mutex<[(digest: String, list: TilePackList)]>([])

    /// A list that was read; `nil` for one that was not, or is too long ago.
    func list(_ digest: String) -> TilePackList? { lists.withLock { $0.first { $0.digest == digest }?.list } }

    /// Keeps a list in place of the oldest one.
    func insert(_ list: TilePackList, _ digest: String) {
        lists.withLock { lists in
            if lists.count >= Self.maxLists { lists.removeFirst() }
            lists.append((digest, list))
        }
    }
}
