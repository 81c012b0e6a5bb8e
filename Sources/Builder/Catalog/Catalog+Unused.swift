import CatalogFormat
package import Foundation

extension Catalog {
    /// Removes what a new catalog has, of a folder without any package; the folder stays.
    package static func removeUnused(_ folder: URL) {
        let lists = ["packages.json", CatalogIndex.fileName, CatalogIndex.signatureName, ".lock"]
        // A folder that cannot be listed is left alone.
        guard let content = try? FileManager.default.contentsOfDirectory(atPath: folder.path),
            Set(content).isSubset(of: lists + ["packages"]),
            rmdir(folder.appendingPathComponent("packages").path) == 0 || errno == ENOENT
        else { return }
        for name in lists { unlink(folder.appendingPathComponent(name).path) }
    }
}
