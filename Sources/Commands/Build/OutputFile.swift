import Errors
import Foundation
import Shards

/// Puts a finished file where the user wants it: whole and flushed, or not at all.
enum OutputFile {
    /// - Parameters:
    ///   - source: The file; it stays.
    ///   - mayLink: Whether the output may share the source's bytes on disk: nothing else uses the source.
    ///   - mark: What the output is marked with, see ``FileMark``.
    ///   - folder: Takes the file until it has its name; it is on the file system of the output where that can be.
    ///   - replacing: Whether another file of that name may go.
    /// - Returns: Whether the output is new: one of the same bytes stays as it is.
    /// - Throws: ``CLIError`` 73 when there is another file and it may not go; `ShardsError`.
    static func put(
        _ source: URL, at target: URL, sha256: Digest, mayLink: Bool, mark: String, by folder: URL, replacing: Bool
    ) throws -> Bool {
        if FileKind.isThere(target), !FileKind.isFolder(target), try Digest.ofFile(target).digest == sha256 {
            FileMark.write(mark, to: target)
            return false
        }
        try OutputPlace.checkName(target, replacing: replacing)
        try OutputPlace.makeFolder(folder)
        let temporary = folder.appending(path: target.lastPathComponent)
        try Durable.remove(temporary)
        defer { unlink(temporary.path) }
        if !mayLink || link(source.path, temporary.path) != 0 { try Durable.copy(source, to: temporary) }
        FileMark.write(mark, to: temporary)
        try Durable.sync(file: temporary)
        // A link, unlike a rename, never takes the place of a file that came meanwhile.
        if !replacing, link(temporary.path, target.path) == 0 {
            try Durable.sync(folder: target.deletingLastPathComponent())
            return true
        }
        let number = errno
        if !replacing, number == EEXIST { try OutputPlace.checkName(target, replacing: false) }
        if rename(temporary.path, target.path) == 0 {
            try Durable.sync(folder: target.deletingLastPathComponent())
            return true
        }
        guard errno == EXDEV else { throw ShardsError.system(errno, "write", target.path) }
        try Durable.copy(temporary, to: target)
        FileMark.write(mark, to: target)
        return true
    }
}
