package import Foundation

/// The folders that a start is about to create, so that a start that fails leaves none of them.
package struct MissingFolders: Sendable {
    /// Folders that were missing, the deepest first.
    private let paths: [String]

    /// Notes which of these folders and of the folders above them are missing.
    package init(_ folders: [URL]) {
        var found: Set<String> = []
        for folder in folders {
            var url = folder.standardizedFileURL
            var status = stat()
            while url.path != "/", lstat(url.path, &status) != 0, found.insert(url.path).inserted {
                url.deleteLastPathComponent()
            }
        }
        paths = found.sorted { $0.utf8.count > $1.utf8.count }
    }

    /// Removes those that exist now and are empty.
    ///
    /// A folder into which another program wrote stays.
    /// - Parameter names: Files that are removed from these folders first.
    package func removeEmpty(without names: [String] = []) {
        for path in paths {
            for name in names { unlink("\(path)/\(name)") }
            rmdir(path)
        }
    }
}
