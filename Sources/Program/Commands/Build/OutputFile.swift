internal import CommandSupport
internal import Digests
import Errors
import Files
import Foundation

/// Moves a finished file to its destination: complete and flushed, or not at all.
enum OutputFile {
    /// - Parameters:
    ///   - source: The file; it is not removed.
    ///   - mayLink: Whether the output may share the source's bytes on disk, because nothing else uses the source.
    ///   - mark: The mark of the output, see ``FileMark``.
    ///   - folder: Contains the file until it gets its name. If possible it is on the output's file system.
    ///   - replacing: Whether an existing file of that name may be replaced.
    /// - Returns: Whether the output is new. An existing file with the same bytes is left unchanged.
    /// - Throws: ``CLIError`` 73 when another file exists and must not be replaced; `StorageError`.
    static func put(
        _ source: URL, at target: URL, sha256: Digest, mayLink: Bool, mark: String, by folder: URL, replacing: Bool
    ) throws -> Bool {
        if FileKind.isThere(target), !FileKind.isFolder(target), try Digest.ofFile(target).digest == sha256 {
            FileMark.write(mark, to: target)
            return false
        }
        try OutputLocation.checkName(target, replacing: replacing)
        try OutputLocation.makeFolder(folder)
        let temporary = folder.appending(path: target.lastPathComponent)
        try Durable.remove(temporary)
        defer { unlink(temporary.path) }
        if !mayLink || link(source.path, temporary.path) != 0 { try Durable.copy(source, to: temporary) }
        FileMark.write(mark, to: temporary)
        try Durable.sync(file: temporary)
        // Unlike a rename, a link never replaces a file that was created in the meantime.
        if !replacing, link(temporary.path, target.path) == 0 {
            try Durable.sync(folder: target.deletingLastPathComponent())
            return true
        }
        let number = errno
        if !replacing, number == EEXIST { try OutputLocation.checkName(target, replacing: false) }
        if rename(temporary.path, target.path) == 0 {
            try Durable.sync(folder: target.deletingLastPathComponent())
            return true
        }
        guard errno == EXDEV else { throw StorageError.system(errno, action: "write", path: target.path) }
        try Durable.copy(temporary, to: target)
        FileMark.write(mark, to: target)
        return true
    }
}
