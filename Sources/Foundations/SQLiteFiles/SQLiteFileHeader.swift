/// The facts a SQLite file states about itself in its first 100 bytes, read without SQLite.
///
/// Source: sqlite.org/fileformat2.html, "The Database Header".
package struct SQLiteFileHeader: Sendable {
    /// What every file begins with.
    package static let mark = Array("SQLite format 3\0".utf8)

    package let pageSize: Int
    package let pages: Int
    package let freePages: Int
    package let usesWAL: Bool

    /// `nil` when the file is not SQLite 3.
    package init?(_ bytes: [UInt8]) {
        func number(_ offset: Int, _ count: Int) -> Int {
            bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        guard bytes.count >= 100, bytes.starts(with: Self.mark) else { return nil }
        pageSize = number(16, 2) == 1 ? 65_536 : number(16, 2)
        usesWAL = bytes[18] == 2 || bytes[19] == 2
        pages = number(28, 4)
        freePages = number(36, 4)
    }
}
