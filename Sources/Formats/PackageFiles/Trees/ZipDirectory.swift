internal import Errors
internal import Files

/// The directory of a ZIP archive.
struct ZipDirectory {
    /// Where it is.
    let place: Range<UInt64>
    /// How many files it names.
    let count: UInt64

    /// One file.
    struct Entry {
        let name: String
        let crc: UInt32
        let size: UInt32
        let offset: UInt64

        /// The bytes of the entry, as Packhorse writes it.
        var exact: [UInt8] { ZipRecords.central(name, crc: crc, size: size, offset: offset) }
    }

    /// The longest end: the record, its comment, and the two records of the 64-bit form.
    private static let maxEnd = UInt64(ZipRecords.endSize + 0xFFFF + ZipRecords.locatorSize + ZipRecords.end64Size)
    private static let piece: UInt64 = 1 << 20

    /// Finds the directory by the end of the file.
    ///
    /// - Throws: ``ArchiveError`` `bad-archive`, `unreadable`.
    init(_ file: FileDescriptor) throws(ArchiveError) {
        let tail = min(file.size, Self.maxEnd)
        let bytes = try Self.read(file, at: file.size - tail, count: tail)
        // A comment may follow the record, which has its length.
        let last = bytes.count - ZipRecords.endSize
        let found = stride(from: last, through: max(0, last - 0xFFFF), by: -1).first { at in
            bytes.little(at: at, 4) == UInt64(ZipRecords.endMark)
                && bytes.little(at: at + 20, 2) == UInt64(last - at)
        }
        guard last >= 0, let found, let count = bytes.little(at: found + 10, 2),
            let size = bytes.little(at: found + 12, 4),
            let start = bytes.little(at: found + 16, 4)
        else { throw Self.bad("it has no end record: it is cut, or no ZIP archive") }
        let end = file.size - tail + UInt64(found)
        if count == 0xFFFF || size == ZipRecords.large || start == ZipRecords.large {
            (place, self.count) = try Self.large(file, locator: end)
        } else {
            guard start <= end, size <= end - start else { throw Self.bad("its directory lies outside of it") }
            (place, self.count) = (start..<start + size, count)
        }
    }

    /// Reads the records of the 64-bit form, which stand before the end record.
    private static func large(_ file: FileDescriptor, locator end: UInt64) throws(ArchiveError) -> (
        Range<UInt64>, UInt64
    ) {
        let size = UInt64(ZipRecords.locatorSize)
        guard end >= size else { throw bad("it has no locator of its 64-bit end") }
        let locator = try read(file, at: end - size, count: size)
        guard locator.little(at: 0, 4) == UInt64(ZipRecords.locatorMark), let place = locator.little(at: 8, 8),
            place <= end - size, UInt64(ZipRecords.end64Size) <= end - size - place
        else { throw bad("it has no locator of its 64-bit end") }
        let record = try read(file, at: place, count: UInt64(ZipRecords.end64Size))
        guard record.little(at: 0, 4) == UInt64(ZipRecords.end64Mark), let count = record.little(at: 32, 8),
            let length = record.little(at: 40, 8), let start = record.little(at: 48, 8), start <= place,
            length <= place - start
        else { throw bad("its 64-bit end record is damaged") }
        return (start..<start + length, count)
    }

    /// Whether what follows the directory is as Packhorse writes it.
    func isExact(_ file: FileDescriptor) throws(ArchiveError) -> Bool {
        let end = ZipRecords.end(files: count, directory: place)
        guard file.size - place.upperBound == UInt64(end.count) else { return false }
        return try Self.read(file, at: place.upperBound, count: UInt64(end.count)) == end
    }

    /// Calls `each` with every entry and its bytes, in order.
    ///
    /// - Throws: ``ArchiveError`` for a damaged directory, for packed or encrypted files and for files that overlap; what `each` throws.
    func entries(_ file: FileDescriptor, _ each: (Entry, [UInt8]) throws -> Void) throws {
        var (at, found, used) = (place.lowerBound, UInt64(0), UInt64(0))
        while at < place.upperBound {
            let bytes = try Self.read(file, at: at, count: min(Self.piece, place.upperBound - at))
            var start = 0
            while let length = try Self.length(bytes, start), start + length <= bytes.count {
                let entry = try entry(Array(bytes[start..<start + length]))
                // Each file takes its own bytes of the archive, so that all together cannot be more.
                used += UInt64(ZipRecords.localSize) + UInt64(entry.name.utf8.count) + UInt64(entry.size)
                guard used <= place.lowerBound else { throw Self.bad("its files overlap") }
                found += 1
                try each(entry, Array(bytes[start..<start + length]))
                start += length
            }
            guard start > 0 else { throw Self.bad("its directory ends early") }
            at += UInt64(start)
        }
        guard found == count else { throw Self.bad("its directory has \(found) files, its end says \(count)") }
    }

    /// Bytes of the entry at a place; `nil` when its fixed part is not there as a whole.
    private static func length(_ bytes: [UInt8], _ start: Int) throws(ArchiveError) -> Int? {
        guard start + ZipRecords.centralSize <= bytes.count else { return nil }
        guard bytes.little(at: start, 4) == UInt64(ZipRecords.centralMark) else {
            throw bad("its directory is damaged")
        }
        return ZipRecords.centralSize + [28, 30, 32].reduce(0) { $0 + Int(bytes.little(at: start + $1, 2) ?? 0) }
    }

    private func entry(_ bytes: [UInt8]) throws(ArchiveError) -> Entry {
        func field(_ place: Int, _ count: Int) -> UInt64 { bytes.little(at: place, count) ?? 0 }
        let (named, further) = (Int(field(28, 2)), Int(field(30, 2)))
        let name = String(decoding: bytes[ZipRecords.centralSize..<ZipRecords.centralSize + named], as: UTF8.self)
        guard field(8, 2) & 1 == 0, field(10, 2) == 0, field(20, 4) == field(24, 4), field(24, 4) < ZipRecords.large
        else {
            throw ArchiveError(
                .unsupported,
                "'\(name.prefix(100))' is packed or encrypted; only ZIP archives of stored files are read.")
        }
        var offset = field(42, 4)
        if offset == ZipRecords.large {
            let start = ZipRecords.centralSize + named
            guard let far = Self.far(Array(bytes[start..<start + further])) else {
                throw Self.bad("'\(name.prefix(100))' has no place")
            }
            offset = far
        }
        guard offset < place.lowerBound else { throw Self.bad("'\(name.prefix(100))' lies outside of it") }
        return Entry(
            name: name, crc: UInt32(truncatingIfNeeded: field(16, 4)), size: UInt32(truncatingIfNeeded: field(24, 4)),
            offset: offset)
    }

    /// The place of a file in the further field of the 64-bit form; sizes are not in it, because they are smaller.
    private static func far(_ fields: [UInt8]) -> UInt64? {
        var at = 0
        while let kind = fields.little(at: at, 2), let length = fields.little(at: at + 2, 2) {
            if kind == ZipRecords.largeField { return length >= 8 ? fields.little(at: at + 4, 8) : nil }
            at += 4 + Int(length)
        }
        return nil
    }

    private static func read(_ file: FileDescriptor, at offset: UInt64, count: UInt64) throws(ArchiveError) -> [UInt8] {
        do throws(StorageError) { return try file.read(at: offset, count: Int(count)) } catch {
            throw ArchiveError(error.code == .corrupt ? .badArchive : .unreadable, error.message, cause: error)
        }
    }

    private static func bad(_ why: String) -> ArchiveError {
        ArchiveError(.badArchive, "The ZIP archive is damaged: \(why).")
    }
}
