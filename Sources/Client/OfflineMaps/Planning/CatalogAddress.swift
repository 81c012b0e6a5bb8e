internal import CatalogFormat
internal import Foundation

/// The address of a catalog: `catalog.json` itself, or the folder that has it.
struct CatalogAddress: Hashable, Sendable {
    /// The folder, with a slash at its end.
    let folder: URL

    init(_ address: URL) {
        let isFolder = address.hasDirectoryPath || address.lastPathComponent != CatalogIndex.fileName
        folder =
            isFolder
            ? address.hasDirectoryPath ? address : address.appending(path: "", directoryHint: .isDirectory)
            : address.deletingLastPathComponent()
    }

    /// The address of a file of the catalog; `nil` for a path that leaves the catalog.
    func url(_ path: String) -> URL? {
        guard CatalogIndex.isInside(path) else { return nil }
        return folder.appending(path: path, directoryHint: .notDirectory)
    }
}
