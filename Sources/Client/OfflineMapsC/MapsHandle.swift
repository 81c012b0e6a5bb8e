import Foundation
import OfflineMaps
import Synchronization

/// `ofm_maps`: the maps of a folder, and the downloads that began with this handle.
final class MapsHandle: Sendable {
    let maps: OfflineMaps
    private let downloads = Mutex<[DownloadHandle]>([])
    /// How many handles each folder has; the last one lets go of the folder.
    ///
    /// Opening and closing take turns, so that a close never suspends a store that is just being opened.
    private static let counts = Mutex<[String: Int]>([:])

    private init(_ maps: OfflineMaps) { self.maps = maps }

    static func open(
        _ folder: String, catalog: String, key: String, token: String?
    ) throws(StoreError) -> MapsHandle {
        guard !folder.isEmpty else { throw StoreError(.invalidArguments, "The folder is an empty text.") }
        guard let url = URL(string: catalog), ["http", "https"].contains(url.scheme?.lowercased()), url.host != nil
        else {
            throw StoreError(.invalidArguments, "'\(catalog.prefix(200))' is not an address of http or https.")
        }
        let place = URL(filePath: folder, directoryHint: .isDirectory)
        return try counts.withLock { counts throws(StoreError) in
            let maps = try blocking { () async throws(StoreError) in
                try await OfflineMaps.open(place, catalog: url, key: key) { $0.token = token }
            }
            counts[maps.store.folder.path, default: 0] += 1
            return MapsHandle(maps)
        }
    }

    /// Begins a download.
    func begin(_ download: MapDownload, _ listener: ProgressListener?) -> DownloadHandle {
        let handle = DownloadHandle(listener)
        downloads.withLock { all in
            all.removeAll(where: \.hasEnded)
            all.append(handle)
        }
        handle.start(download)
        return handle
    }

    /// Stops the downloads, and lets go of the folder when this is its last handle.
    func close() {
        let open = downloads.withLock { all in
            defer { all = [] }
            return all
        }
        for download in open { download.cancel() }
        if !CallbackThread.shared.isCurrent { for download in open { _ = download.wait(nil) } }
        Self.counts.withLock { counts in
            let folder = maps.store.folder.path
            let count = (counts[folder] ?? 1) - 1
            counts[folder] = count > 0 ? count : nil
            guard count == 0 else { return }
            // Suspending never fails.
            try? blocking { [store = maps.store] () async throws(StoreError) in await store.suspend() }
        }
    }
}
