internal import Files
internal import Foundation

/// Appends pages to a new SQLite file, each written once and in order, a quarter of a mebibyte at a time.
///
/// Page 1 is written last, because its content is known only then. Used by one thread at a time. Source:
/// sqlite.org/fileformat2.html, sections 1.2 to 1.6.
final class SQLitePages {
    /// Bytes of a page.
    let size: Int
    /// Pages so far, page 1 and the one that is never used included.
    private(set) var count = 1
    private let file: NewFile
    private var buffer: [UInt8]
    /// The page that SQLite uses for locks and that is never written: it holds the byte at 2^30.
    private let locked: Int

    /// Begins a new file.
    ///
    /// - Parameter lockByte: Offset of the byte that SQLite locks; other values than 2^30 only in tests.
    init(_ file: NewFile, size: Int, lockByte: Int = 1 << 30) {
        self.size = size
        locked = lockByte / size + 1
        self.file = file
        buffer = [UInt8](repeating: 0, count: size)
        buffer.reserveCapacity(Self.batch + 2 * size)
    }

    private static let batch = 256 << 10

    /// The number that the next page will have.
    var next: Int { following(count) }

    /// The number of the page after one.
    func following(_ page: Int) -> Int { page + 1 == locked ? page + 2 : page + 1 }

    /// Appends a page made of a few parts; what they do not fill is zero.
    ///
    /// - Returns: Its number.
    @discardableResult
    func append(_ parts: UnsafeRawBufferPointer...) throws -> Int {
        if count + 1 == locked { try add([]) }
        try add(parts)
        return count
    }

    /// Appends a page that has been filled.
    func append(_ page: [UInt8]) throws -> Int { try page.withUnsafeBytes { try append($0) } }

    private func add(_ parts: [UnsafeRawBufferPointer]) throws {
        guard count < Int(UInt32.max) - 1 else {
            throw PackagesError(.tooLarge, "The package needs more pages than a SQLite file can have; split it.")
        }
        let end = buffer.count + size
        for part in parts { buffer.append(contentsOf: part) }
        precondition(buffer.count <= end, "A page has more bytes than its size: a bug in the tree that made it.")
        buffer.append(contentsOf: repeatElement(0, count: end - buffer.count))
        count += 1
        if buffer.count >= Self.batch { try flush() }
    }

    private func flush() throws {
        try file.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes what is left, then page 1; the file is complete and not closed.
    func finish(first page: [UInt8]) throws {
        try flush()
        try file.write(page, at: 0)
    }
}
