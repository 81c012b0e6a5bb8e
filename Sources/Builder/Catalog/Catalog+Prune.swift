public import CatalogFormat
public import Errors
internal import Files
internal import Foundation

/// What pruning removed, or would remove.
public struct CatalogPruning: Sendable, Codable {
    /// Versions that are no longer listed: `EE 1`, `groups/terrain/EE 2`.
    public internal(set) var versions: [String] = []
    /// Files, by path inside the catalog, ascending.
    public internal(set) var files: [String] = []
    /// Bytes of the files.
    public internal(set) var bytes: UInt64 = 0
}

extension Catalog {
    /// Removes versions beyond the newest `keep` of each package, with their patches, and files that no list names.
    ///
    /// The newest version always stays. Lists are written before files are removed. If pruning is interrupted, files
    /// that no list names remain, and the next pruning removes them.
    /// - Parameters:
    ///   - keep: Versions of each package that stay, at least 1.
    ///   - dryRun: Whether to only report, and change nothing.
    /// - Throws: `bad-request`, `signing-key`, `catalog-corrupt`, `disk-full`, `io`.
    public func prune(keep: Int, dryRun: Bool) throws(CatalogError) -> CatalogPruning {
        guard keep >= 1 else {
            throw CatalogError(.badRequest, "Pruning must keep at least one version of each package.")
        }
        if !dryRun { try checkMaySign() }
        return try locked(isDry: dryRun) { () throws(CatalogError) in
            var report = CatalogPruning()
            var useless: [URL] = []
            for edition in try editions() {
                let list = try list(edition)
                var history = try history(edition)
                report.versions += history.trim(to: keep, under: list).map { "\(edition.path)\($0.id) \($0.version)" }
                if !dryRun { try write(history, edition) }
                let named = CatalogHistory.paths(list.packages + history.packages)
                for path in try files(edition) + uselessPacks(list, edition) where !named.contains(path) {
                    let file = place(path, edition)
                    report.files.append(edition.path + path)
                    report.bytes += try fileSize(file) ?? 0
                    useless.append(file)
                }
            }
            for path in try abandoned().map({ Self.making + $0 }) + uselessStyles() {
                let file = folder.appendingPathComponent(path)
                report.files.append(path)
                report.bytes += try fileSize(file) ?? 0
                useless.append(file)
            }
            report.versions.sort()
            report.files.sort()
            guard !dryRun else { return report }
            try refreshIndex()
            for file in useless {
                try checkMayChange()
                try CatalogError.naming { () throws(StorageError) in try Durable.remove(file) }
            }
            Durable.removeEmptyFolders(of: useless, upTo: folder)
            return report
        }
    }

    /// Patch files that a process left unfinished more than a day ago; younger ones may still be written.
    private func abandoned() throws(CatalogError) -> [String] {
        let making = folder.appendingPathComponent(Self.making)
        // Without the folder nothing was abandoned.
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: making.path) else { return [] }
        return names.filter { Self.isOld(making.appendingPathComponent($0)) }
    }

    /// Whether a file was last changed more than a day ago: its writer has certainly ended.
    static func isOld(_ file: URL) -> Bool {
        var status = stat()
        return stat(file.path, &status) == 0 && Date().timeIntervalSince1970 - Double(status.st_mtim.tv_sec) > 86_400
    }

    /// Files of packages and patches in an edition's folder, including temporary files of ended processes.
    private func files(_ edition: CatalogEdition) throws(CatalogError) -> [String] {
        var found: [String] = []
        for kind in ["packages", "patches"] {
            for name in try Self.folders("\(edition.path)\(kind)", in: folder) {
                let parent = place("\(kind)/\(name)", edition)
                do {
                    found += try FileManager.default.contentsOfDirectory(
                        at: parent, includingPropertiesForKeys: [.isRegularFileKey], options: []
                    )
                    // A file without readable attributes is kept.
                    .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) ?? false }
                    .map { "\(kind)/\(name)/\($0.lastPathComponent)" }
                } catch {
                    throw CatalogError(
                        .io, "Cannot read folder '\(parent.path)': \(error.localizedDescription)", cause: error)
                }
            }
        }
        return found
    }
}
