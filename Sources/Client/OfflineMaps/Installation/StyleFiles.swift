internal import Errors
internal import Files
internal import Foundation
internal import StyleFormat

/// The files of a style, unpacked next to their archive for readers.
enum StyleFiles {
    /// Where the files of an archive are unpacked.
    static func folder(of archive: URL) -> URL {
        archive.deletingLastPathComponent().appending(path: "pack", directoryHint: .isDirectory)
    }

    /// Unpacks an archive to where readers look for the files of another one, which takes its place.
    static func unpack(_ part: URL, nextTo archive: URL) throws(StorageError) {
        let folder = folder(of: archive)
        try Durable.makeFolder(folder)
        do throws(StylesError) { try StoredZip.unpack(part, into: folder) } catch {
            throw StorageError(error.code == .diskFull ? .diskFull : .io, error.message, cause: error)
        }
    }

    /// Bytes of an archive and of its files, as they are on the disk.
    static func bytes(_ archive: URL) -> UInt64 {
        (StoreScan.size(archive) ?? 0) + StoreScan.bytes(below: folder(of: archive))
    }
}
