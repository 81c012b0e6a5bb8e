internal import Errors
internal import Files
public import Foundation
public import PackageFiles

/// The place of a folder of tiles that is written as a whole.
public enum FolderTarget {
    /// Refuses a place that holds something else.
    ///
    /// - Parameter replacing: Whether a folder that Packhorse wrote may be replaced; no other folder ever is, and none with
    ///   other files between its tiles. What lies beside the tiles stays: ``publish(_:as:replacing:)`` keeps it.
    /// - Throws: ``PackagesError`` `exists`; `io` for a folder that cannot be read.
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
        let strange = try strangers(in: target)
        guard let first = strange.first else { return }
        throw PackagesError(
            .exists,
            "'\(target.path)' is not replaced: '\(first)'\(strange.count > 1 ? " and \(strange.count - 1) more" : "") between its tiles is no tile; move it beside them, out of the folders with numbers, or remove it."
        )
    }

    /// Files between the tiles that are no tiles.
    private static func strangers(in target: URL) throws(PackagesError) -> [String] {
        let tree = TileFolder(target)
        var names: [String] = []
        do {
            try tree.files { file in
                let isHidden = file.name.split(separator: "/").last?.hasPrefix(".") == true
                // File managers leave hidden files everywhere.
                if file.name != TreePath.metadata, !isHidden, TreePath.parse(file.name) == nil {
                    names.append(file.name)
                }
            }
        } catch {
            let why = (error as? any CodedError)?.message ?? "\(error)"
            throw PackagesError(.io, "'\(target.path)' cannot be read, so it is not replaced: \(why)", cause: error)
        }
        return names + tree.strange.map(\.place)
    }

    /// Gives a finished folder its name, in place of an earlier one, with copies of what lies beside the earlier one's tiles.
    static func publish(_ finished: URL, as target: URL, replacing: Bool) throws {
        try check(target, replacing: replacing)
        guard FileManager.default.fileExists(atPath: target.path) else {
            return try Durable.rename(finished, to: target)
        }
        for name in try TileFolder(target).others() {
            let copy = finished.appending(path: name)
            guard !FileManager.default.fileExists(atPath: copy.path) else {
                throw PackagesError(
                    .exists,
                    "'\(target.path)' is not replaced: '\(name)' in it is no folder of tiles; rename or remove it.")
            }
            try FileManager.default.copyItem(at: target.appending(path: name), to: copy)
        }
        try Durable.sync(everythingNear: finished)
        try Durable.replace(folder: target, by: finished)
    }

    /// Bytes of all files in a folder of tiles.
    static func size(_ folder: URL) throws -> UInt64 {
        let tree = TileFolder(folder)
        try tree.files { _ in }
        return tree.size
    }
}
