package import Digests
package import Errors
internal import Files
package import Foundation
internal import TileBodies

/// A ZIP archive with tiles as stored files, also in the 64-bit form.
///
/// Safe on hostile bytes: every place is compared with the size of the file, and files that overlap are refused, so
/// that reading all of them reads each byte of the archive once. Memory: 1 MB, and one file.
package final class TileZip: TileTree {
    package let kind = "ZIP"
    package let strange: [VerifyReport.Problem] = []
    package private(set) var isExact = true
    private let url: URL
    private let file: FileDescriptor
    private let directory: ZipDirectory

    package var size: UInt64 { file.size }

    /// Opens an archive, and reads where its directory is.
    ///
    /// - Throws: ``ArchiveError``.
    package init(_ url: URL) throws(ArchiveError) {
        self.url = url
        do throws(StorageError) { file = try FileDescriptor(reading: url) } catch {
            throw ArchiveError(.unreadable, error.message, cause: error)
        }
        directory = try ZipDirectory(file)
        isExact = try directory.isExact(file)
    }

    /// Whether the first bytes of a file begin an archive whose first file is one of a tree.
    package static func begins(_ head: [UInt8]) -> Bool {
        guard head.little(at: 0, 4) == UInt64(ZipRecords.localMark), let length = head.little(at: 26, 2),
            ZipRecords.localSize + Int(length) <= head.count
        else { return false }
        let bytes = head[ZipRecords.localSize..<ZipRecords.localSize + Int(length)]
        let name = String(decoding: bytes, as: UTF8.self)
        return name == TreePath.metadata || TreePath.parse(name) != nil
    }

    package func files(_ each: (TreeFile) throws -> Void) throws {
        var end: UInt64 = 0
        try directory.entries(file) { entry, bytes in
            if entry.offset != end || bytes != entry.exact { isExact = false }
            end = entry.offset + UInt64(ZipRecords.localSize + entry.name.utf8.count) + UInt64(entry.size)
            try each(
                TreeFile(
                    name: entry.name, place: entry.offset, length: UInt64(entry.size) << 32 | UInt64(entry.crc)))
        }
        if end != directory.place.lowerBound { isExact = false }
    }

    package func bytes(of wanted: TreeFile) throws(ArchiveError) -> [UInt8] {
        let (size, crc) = (wanted.length >> 32, UInt32(truncatingIfNeeded: wanted.length))
        func bad(_ why: String) -> ArchiveError { ArchiveError(.badArchive, "'\(wanted.name.prefix(100))' \(why).") }
        do {
            guard size <= UInt64(Gzip.defaultLimit) else { throw TreePath.tooLarge(wanted.name, size) }
            let head = try file.read(at: wanted.place, count: ZipRecords.localSize)
            guard head.little(at: 0, 4) == UInt64(ZipRecords.localMark), let named = head.little(at: 26, 2),
                let further = head.little(at: 28, 2)
            else { throw bad("is not where the directory says") }
            let name = try file.read(at: wanted.place + UInt64(ZipRecords.localSize), count: Int(named))
            guard name == Array(wanted.name.utf8) else { throw bad("has another name in the archive") }
            if further != 0 || head + name != ZipRecords.local(wanted.name, crc: crc, size: UInt32(size)) {
                isExact = false
            }
            let start = wanted.place + UInt64(ZipRecords.localSize) + named + further
            let bytes = try file.read(at: start, count: Int(size))
            guard Zlib.crc32(bytes) == crc else { throw bad("has a wrong checksum") }
            return bytes
        } catch let error as ArchiveError { throw error } catch let error as StorageError {
            throw ArchiveError(error.code == .corrupt ? .badArchive : .unreadable, error.message, cause: error)
        } catch { throw bad("cannot be read") }
    }

    package func digest() throws -> Digest { try Digest.ofFile(url).digest }
}
