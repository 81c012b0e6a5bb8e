internal import CatalogFormat
internal import Foundation

/// A plan with what the operations on its downloads need.
struct DetailedPlan: Sendable {
    var answer: PlanAnswer
    /// What is wrong and what to do, where more is known than the cause.
    var text: String?
    /// What regions need; the column `required` of their rows.
    var needs: [RegionID: RegionNeeds] = [:]
}

/// Everything that a plan depends on, as it is at one moment.
struct PlanView: Sendable {
    /// The catalog's address; other addresses are relative to it.
    var address: URL?
    /// What the catalog offers; `nil` when none was read.
    var content: CatalogContent?
    var rows: StoreRows
    var regions: [RegionID: RegionDefinition]
    /// The regions that were never planned as they are defined now.
    var unplanned: Set<RegionID> = []
    /// The data groups that the user selected.
    var groups: Set<String>
}

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
