public import CatalogFormat
public import Errors
internal import Files
public import Foundation

extension Catalog {
    /// The editions that have a list, ascending by path; the main one is first.
    ///
    /// - Throws: `io` when a folder cannot be read.
    public func editions() throws(CatalogError) -> [CatalogEdition] { try Self.editions(in: folder) }

    /// The editions in a catalog's folder, whatever its lists hold.
    ///
    /// - Throws: `io` when a folder cannot be read.
    public static func editions(in folder: URL) throws(CatalogError) -> [CatalogEdition] {
        var found: [CatalogEdition] = [.main]
        func add(group: String?, language: String?) {
            // A folder with another name is no edition.
            guard let edition = try? CatalogEdition(group: group, language: language),
                access(folder.appendingPathComponent(edition.path + "packages.json").path, F_OK) == 0
            else { return }
            found.append(edition)
        }
        for name in try folders("", in: folder) { add(group: nil, language: name) }
        for group in try folders("groups/", in: folder) {
            add(group: group, language: nil)
            for name in try folders("groups/\(group)/", in: folder) { add(group: group, language: name) }
        }
        return found.sorted()
    }

    /// Names of the folders at a path inside the catalog; empty when the path does not exist.
    static func folders(_ path: String, in folder: URL) throws(CatalogError) -> [String] {
        let url = folder.appendingPathComponent(path)
        guard access(url.path, F_OK) == 0 else { return [] }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: url.path) } catch {
            throw CatalogError(.io, "Cannot read folder '\(url.path)': \(error.localizedDescription)", cause: error)
        }
        var found: [String] = []
        for name in names {
            let entry = url.appendingPathComponent(name)
            var status = stat()
            if lstat(entry.path, &status) == 0 {
                if status.st_mode & S_IFMT == S_IFDIR { found.append(name) }
                continue
            }
            let number = errno
            // A temporary file of a writer is gone by now. What cannot be looked at is an error: a list must not lose an edition for it.
            guard number == ENOENT else {
                throw try CatalogError.naming { () throws(StorageError) in
                    throw StorageError.system(number, action: "inspect", path: entry.path)
                }
            }
        }
        return found
    }
}
