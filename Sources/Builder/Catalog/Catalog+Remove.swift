public import CatalogFormat
public import Errors
internal import Files
internal import Foundation

extension Catalog {
    /// Withdraws packages: removes their entries, all their versions and patches, and tile packs that no other package
    /// uses.
    ///
    /// Lists are written before files are removed, as in ``prune(keep:dryRun:)``. A package that is published later
    /// with the same id gets a version above all earlier ones, and `sequence` grows. So clients do not mistake the
    /// catalog for an older one.
    /// - Parameters:
    ///   - ids: The packages to withdraw; one in parts with all of them.
    ///   - group: The group to withdraw them from; with `language` `nil` as well, they go from every edition.
    ///   - language: The language to withdraw them from.
    ///   - dryRun: Whether to only report, and change nothing.
    /// - Throws: `missing-package` for an id that is in none of these editions; `signing-key`, `catalog-corrupt`,
    ///   `disk-full`, `io`.
    public func remove(
        _ ids: [String], group: String? = nil, language: String? = nil, dryRun: Bool
    ) throws(CatalogError) -> CatalogPruning {
        if !dryRun { try checkMaySign() }
        return try locked(isDry: dryRun) { () throws(CatalogError) in
            let all = try editions()
            let chosen = group == nil && language == nil ? all : [try CatalogEdition(group: group, language: language)]
            var changes: [CatalogEdition: CatalogChange] = [:]
            for edition in chosen where all.contains(edition) {
                var change = CatalogChange(list: try list(edition), history: try history(edition))
                for id in ids { try Self.checkIsNoPart(id, in: change.list, edition) }
                for id in Set(ids) { change.withdraw(id) }
                guard !change.withdrawn.isEmpty else { continue }
                changes[edition] = change
            }
            if let absent = ids.first(where: { id in
                !changes.values.contains { $0.withdrawn.contains { $0.wholeID == id } }
            }) {
                throw CatalogError(
                    .missingPackage,
                    "The catalog in '\(folder.path)' has no package '\(absent)'"
                        + (chosen == all
                            ? "." : " in '\(chosen[0].path)'. Leave group and language out to withdraw it everywhere."))
            }
            let report = try withdrawal(changes)
            guard !dryRun else { return report }
            try write(changes)
            try removeFiles(of: report)
            return report
        }
    }

    /// Removes files that no list names any more.
    func removeFiles(of report: CatalogPruning) throws(CatalogError) {
        let files = report.files.map { folder.appendingPathComponent($0) }
        for file in files {
            try checkMayChange()
            try CatalogError.naming { () throws(StorageError) in try Durable.remove(file) }
        }
        Durable.removeEmptyFolders(of: files, upTo: folder)
    }

    /// What these changes remove.
    func withdrawal(_ changes: [CatalogEdition: CatalogChange]) throws(CatalogError) -> CatalogPruning {
        var report = CatalogPruning()
        for (edition, change) in changes {
            let ids = Set(change.withdrawn.map(\.wholeID))
            let older = change.history.packages.filter { ids.contains($0.wholeID) }
            let staying = change.list.packages + change.history.packages.filter { !ids.contains($0.wholeID) }
            report.versions += (change.withdrawn + older).map { "\(edition.path)\($0.id) \($0.version)" }
            let named = CatalogHistory.paths(change.withdrawn + older).subtracting(CatalogHistory.paths(staying))
            for path in try named.sorted() + uselessPacks(change.list, edition) {
                guard let size = try fileSize(place(path, edition)) else { continue }
                report.files.append(edition.path + path)
                report.bytes += size
            }
        }
        report.versions.sort()
        report.files.sort()
        return report
    }
}
