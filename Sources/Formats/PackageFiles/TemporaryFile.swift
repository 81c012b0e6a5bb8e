internal import Files
internal import Foundation

/// A file that gets its name only when it is finished.
enum TemporaryFile {
    /// Lets `body` write a file next to `target`, and renames it on success; otherwise the file is removed.
    ///
    /// Unfinished files of killed processes that wrote the same target are removed.
    ///
    /// - Throws: `exists`, `disk-full`, `io`, and what `body` throws.
    static func write<Result>(_ target: URL, replacing: Bool, _ body: (URL) throws -> Result) throws -> Result {
        guard replacing || !FileManager.default.fileExists(atPath: target.path) else {
            throw PackagesError(.exists, "'\(target.path)' exists already; remove it, or allow it to be replaced.")
        }
        let inUse = FolderInUse(target.deletingLastPathComponent()) {
            for file in TemporaryName.abandoned(nextTo: target) { unlink(file.path) }
        }
        defer { withExtendedLifetime(inUse) {} }
        let temporary = TemporaryName.swept(nextTo: target)
        do {
            let result = try body(temporary)
            try Durable.rename(temporary, to: target)
            return result
        } catch {
            for suffix in ["", "-journal"] { unlink(temporary.path + suffix) }
            throw PackagesError.wrapping(error, path: target.path)
        }
    }
}
