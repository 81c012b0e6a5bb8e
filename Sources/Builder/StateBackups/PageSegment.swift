public import Errors

/// Some pages of a state file, with their numbers.
///
/// Format: magic, page size, number of pages, the page numbers from 1 in rising order, the pages. Its object is named after its SHA-256.
public struct PageSegment: Hashable, Sendable {
    /// Bytes of a page.
    public let pageSize: UInt32
    /// The numbers of the pages, from 1, rising.
    public let numbers: [UInt32]
    /// The pages, in the same order.
    public let pages: ArraySlice<UInt8>

    /// Bytes of pages that a segment has at most: an object is read into memory.
    static let mostPageBytes = 4 << 20
    private static let magic = Array("PHPAGE01".utf8)
    private static let headBytes = 8 + 4 + 4
    /// The largest segment in bytes.
    static let mostBytes = headBytes + mostPageBytes + 4 * mostPageBytes / 512

    /// The bytes of the object.
    public func encoded() -> [UInt8] {
        var bytes = Self.magic
        bytes.reserveCapacity(Self.headBytes + 4 * numbers.count + pages.count)
        bytes.append(number: pageSize)
        bytes.append(number: UInt32(numbers.count))
        for number in numbers { bytes.append(number: number) }
        return bytes + pages
    }

    /// Reads the bytes of an object.
    ///
    /// - Throws: `damaged-backup` for anything that ``encoded()`` does not write.
    public init(decoding bytes: [UInt8]) throws(BackupError) {
        guard bytes.count <= Self.mostBytes, bytes.starts(with: Self.magic) else {
            throw Self.damaged("it is too long or has another magic")
        }
        var reader = BackupBytes(bytes.dropFirst(Self.magic.count))
        guard let pageSize = reader.number(UInt32.self), let count = reader.number(UInt32.self),
            pageSize.nonzeroBitCount == 1,
            (512...65_536).contains(pageSize), count > 0, UInt64(count) * UInt64(pageSize) <= UInt64(Self.mostPageBytes)
        else { throw Self.damaged("its pages are wrong") }
        guard reader.left == Int(count) * (4 + Int(pageSize)) else { throw Self.damaged("its length is wrong") }
        var numbers: [UInt32] = []
        numbers.reserveCapacity(Int(count))
        while numbers.count < count {
            guard let number = reader.number(UInt32.self), number > numbers.last ?? 0 else {
                throw Self.damaged("its page numbers do not rise")
            }
            numbers.append(number)
        }
        guard let pages = reader.take(Int(count) * Int(pageSize)) else { throw Self.damaged("it is cut off") }
        self.init(pageSize: pageSize, numbers: numbers, pages: pages)
    }

    init(pageSize: UInt32, numbers: [UInt32], pages: ArraySlice<UInt8>) {
        self.pageSize = pageSize
        self.numbers = numbers
        self.pages = pages
    }

    /// A page by its place in ``numbers``.
    func page(_ place: Int) -> ArraySlice<UInt8> {
        let start = pages.startIndex + place * Int(pageSize)
        return pages[start..<start + Int(pageSize)]
    }

    private static func damaged(_ why: String) -> BackupError {
        BackupError(.damaged, "A segment of a backup is damaged: \(why).")
    }
}
