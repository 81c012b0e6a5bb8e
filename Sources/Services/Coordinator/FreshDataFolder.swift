import Blobs
import Catalog
import Foundation

/// What the start of a coordinator creates in folders that are empty before.
///
/// A start that fails removes it, so that only a coordinator that has served leaves files.
struct FreshDataFolder {
    private let blobs: URL?
    private let catalogs: [URL]

    /// Notes the empty folders; called before anything is opened.
    init(_ options: CoordinatorOptions) {
        blobs = options.store == nil && Self.isEmpty(options.blobs) ? options.blobs : nil
        catalogs = ([options.catalog] + options.otherCatalogs.values.map(\.folder)).filter(Self.isEmpty)
    }

    /// Removes what the start created; blobs and packages of other processes stay.
    ///
    /// - Parameter store: The state that the start opened; it is closed.
    func remove(_ store: StateStore) {
        if let blobs { FolderBlobStore.removeUnused(blobs) }
        catalogs.forEach(Catalog.removeUnused)
        store.closeAndRemoveIfNew()
    }

    private static func isEmpty(_ folder: URL) -> Bool {
        let content = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        // A missing folder has no content either.
        return content?.isEmpty ?? true
    }
}
