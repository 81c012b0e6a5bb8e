internal import Files
public import Foundation
public import PackageFiles

/// The place of a folder of tiles that is written as a whole.
public enum FolderTarget {
    /// Refuses a place that holds something else.
    ///
    /// - Parameter replacing: Whether a folder that Packhorse wrote may be replaced; no other folder ever is.
    /// - Throws: ``PackagesError`` `exists`.
    public static func check(_ target: URL, replacing: Bool) throws(PackagesError) {
        guard FileManager.default.fileExists(atPath: target.path) else { return }
        guard TileFolder.isOurs(target) else {
            throw PackagesError(
                .exists,
                "'\(target.path)' exists and is no folder of tiles that Packhorse wrote, so it is not replaced; remove it, or choose another name."
            )
        }
        guard replacing else {
            throw PackagesError(.exists, "'\(target.path)' exists already; remove it, or allow it to be replaced.")
        }
    }

    /// Gives a finished folder its name, in place of an earlier one.
    static func publish(_ finished: URL, as target: URL, replacing: Bool) throws {
        try check(target, replacing: replacing)
        guard FileManager.default.fileExists(atPath: target.path) else {
            return try Durable.rename(finished, to: target)
        }
        try Durable.replace(folder: target, by: finished)
    }

    /// Bytes of all files in a folder of tiles.
    static func size(_ folder: URL) throws -> UInt64 {
        let tree = TileFolder(folder)
        try tree.files { _ in }
        return tree.size
    }
}
