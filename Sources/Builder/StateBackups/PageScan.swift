internal import Digests
internal import Errors
internal import Files
internal import Foundation

/// Reads a SQLite database page by page and finds the pages that changed.
struct PageScan: Sendable {
    let file: URL
    let pageSize: UInt32
    let pageCount: UInt32

    /// Reads the header of the file.
    ///
    /// - Throws: ``BackupError`` `damaged-backup` when it is no database of whole pages; `StorageError`.
    init(_ file: URL) throws {
        self.file = file
        let descriptor = try FileDescriptor(reading: file)
        let head = try descriptor.read(at: 0, count: Int(min(descriptor.size, 100)))
        var reader = BackupBytes(head[...])
        let magic = reader.take(16)
        // 1 stands for 65,536.
        let size = reader.number(UInt16.self).map { $0 == 1 ? 65_536 : UInt32($0) }
        guard let size, magic?.elementsEqual("SQLite format 3\0".utf8) == true, size.nonzeroBitCount == 1, size >= 512,
            descriptor.size >= size, descriptor.size.isMultiple(of: UInt64(size)),
            let count = UInt32(exactly: descriptor.size / UInt64(size))
        else { throw BackupError(.damaged, "The copy of the state '\(file.path)' is no database of whole pages.") }
        pageSize = size
        pageCount = count
    }

    /// Reads the next pages, 4 MiB of them at most.
    ///
    /// - Parameters:
    ///   - done: Pages that were read before.
    ///   - known: The digests of the pages of the backup before.
    /// - Returns: The digests of the pages, and those that differ from the known ones; `nil` = none does.
    func next(after done: Int, known: [Digest]) throws -> (digests: [Digest], changed: PageSegment?) {
        let size = Int(pageSize)
        let count = min(Int(pageCount) - done, PageSegment.mostPageBytes / size)
        let bytes = try FileDescriptor(reading: file).read(at: UInt64(done) * UInt64(size), count: count * size)
        var digests: [Digest] = []
        digests.reserveCapacity(count)
        var numbers: [UInt32] = []
        var pages: [UInt8] = []
        for place in 0..<count {
            let page = bytes[place * size..<(place + 1) * size]
            let digest = Digest(of: page)
            digests.append(digest)
            let number = done + place
            guard number >= known.count || known[number] != digest else { continue }
            numbers.append(UInt32(number + 1))
            pages += page
        }
        guard !numbers.isEmpty else { return (digests, nil) }
        return (digests, PageSegment(pageSize: pageSize, numbers: numbers, pages: pages[...]))
    }

    /// The digest of a whole file: the SHA-256 of the SHA-256s of its pages.
    static func whole(_ digests: [Digest]) -> Digest {
        var hasher = DigestHasher()
        for digest in digests { hasher.update(digest.bytes) }
        return hasher.finish()
    }
}
