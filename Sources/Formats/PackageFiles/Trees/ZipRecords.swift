/// The records of a ZIP archive whose files are stored as they are, with the first date that the format knows: their bytes depend
/// only on names and contents.
///
/// - Source: PKWARE APPNOTE 6.3.10, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16 and 4.5.3; names are ASCII.
package enum ZipRecords {
    // The first four bytes of each record, as a little-endian number.
    package static let localMark: UInt32 = 0x0403_4B50
    package static let centralMark: UInt32 = 0x0201_4B50
    package static let endMark: UInt32 = 0x0605_4B50
    package static let end64Mark: UInt32 = 0x0606_4B50
    package static let locatorMark: UInt32 = 0x0706_4B50
    /// Bytes of each record without its name and further fields.
    package static let localSize = 30
    package static let centralSize = 46
    package static let endSize = 22
    package static let end64Size = 56
    package static let locatorSize = 20
    /// A value of 32 bits that says: see the field of 64 bits.
    package static let large: UInt64 = 0xFFFF_FFFF
    /// The kind of the further field with values of 64 bits.
    package static let largeField: UInt64 = 1
    /// Made by version 4.5 on a Unix system; a regular file that everybody may read.
    private static let maker: UInt64 = 3 << 8 | 45
    private static let attributes: UInt64 = 0o100_644 << 16

    /// What stands before a file.
    package static func local(_ name: String, crc: UInt32, size: UInt32) -> [UInt8] {
        little([(UInt64(localMark), 4)]) + common(needs: 20, crc: crc, size: size)
            + little([(UInt64(name.utf8.count), 2), (0, 2)]) + Array(name.utf8)
    }

    /// The entry of a file in the directory.
    package static func central(_ name: String, crc: UInt32, size: UInt32, offset: UInt64) -> [UInt8] {
        let isFar = offset >= large
        let further = isFar ? little([(largeField, 2), (8, 2), (offset, 8)]) : []
        return little([(UInt64(centralMark), 4), (maker, 2)])
            + common(needs: isFar ? 45 : 20, crc: crc, size: size)
            + little([
                (UInt64(name.utf8.count), 2), (UInt64(further.count), 2), (0, 2), (0, 2), (0, 2), (attributes, 4),
                (min(offset, large), 4),
            ]) + Array(name.utf8) + further
    }

    /// What follows the directory; in the 64-bit form too where a number needs it.
    package static func end(files: UInt64, directory: Range<UInt64>) -> [UInt8] {
        let size = directory.upperBound - directory.lowerBound
        var bytes: [UInt8] = []
        if files >= 0xFFFF || size >= large || directory.lowerBound >= large {
            bytes = little([
                (UInt64(end64Mark), 4), (44, 8), (maker, 2), (45, 2), (0, 4), (0, 4), (files, 8), (files, 8), (size, 8),
                (directory.lowerBound, 8), (UInt64(locatorMark), 4), (0, 4), (directory.upperBound, 8), (1, 4),
            ])
        }
        let count = min(files, 0xFFFF)
        return bytes
            + little([
                (UInt64(endMark), 4), (0, 2), (0, 2), (count, 2), (count, 2), (min(size, large), 4),
                (min(directory.lowerBound, large), 4), (0, 2),
            ])
    }

    /// Version, flags, method, time, 1 January 1980, checksum, both sizes.
    private static func common(needs version: UInt64, crc: UInt32, size: UInt32) -> [UInt8] {
        little([
            (version, 2), (0, 2), (0, 2), (0, 2), (0x0021, 2), (UInt64(crc), 4), (UInt64(size), 4), (UInt64(size), 4),
        ])
    }

    private static func little(_ values: [(value: UInt64, bytes: Int)]) -> [UInt8] {
        values.flatMap { value, count in (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) } }
    }
}

extension [UInt8] {
    /// A little-endian number of up to 8 bytes; `nil` where it would end behind the array.
    func little(at place: Int, _ count: Int) -> UInt64? {
        guard place >= 0, place <= self.count - count else { return nil }
        return self[place..<place + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
