internal import Errors
internal import Files
internal import SQLiteFiles

/// Finds the bytes of the seal in a SQLite file: the value of the first row of a table, when that row is the seal's.
///
/// Walks the leftmost path of the table's b-tree. Total on hostile files.
/// Source: sqlite.org/fileformat2.html, sections 1.6 and 2.1.
enum SealPosition {
    /// A b-tree over 2^32 pages with two children a page is not deeper.
    private static let maxDepth = 33

    /// The offset of the 64 bytes, or `nil`.
    static func find(in file: any SealableFile, rootPage: Int) -> UInt64? {
        do throws(StorageError) {
            return try search(file, rootPage)
        } catch {
            return nil
        }
    }

    private static func search(_ file: any SealableFile, _ rootPage: Int) throws(StorageError) -> UInt64? {
        guard let header = SQLiteFileHeader(try file.read(at: 0, count: Int(min(100, file.size)))) else { return nil }
        let size = header.pageSize
        // On page 1 the file's header comes first; no table of ours begins there.
        var number = rootPage
        for _ in 0..<maxDepth {
            guard size >= 512, 2...Int(UInt32.max) ~= number, UInt64(number) * UInt64(size) <= file.size else {
                return nil
            }
            let start = UInt64(number - 1) * UInt64(size)
            let page = try file.read(at: start, count: size)
            func big(_ offset: Int, _ count: Int) -> Int? {
                guard offset >= 0, offset + count <= size else { return nil }
                return page[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
            }
            guard let cells = big(3, 2), cells > 0 else { return nil }
            switch page[0] {
            case 5:
                guard let cell = big(12, 2), let child = big(cell, 4) else { return nil }
                number = child
            case 13:
                guard let cell = big(8, 2), let value = value(in: page, at: cell) else { return nil }
                return start + UInt64(value)
            default: return nil
            }
        }
        return nil
    }

    /// Where the value begins in a cell that holds ("packhorse_seal", 64 characters), or `nil`.
    private static func value(in page: [UInt8], at cell: Int) -> Int? {
        // The payload's size in one byte (4 of header, 14 of name, 64 of value) and the row's number in one: it is 1.
        // The record's header: its size, the type of 14 characters (41), the type of 64 characters (141).
        let expected: [UInt8] = [82, 1, 4, 41, 0x81, 13] + Array(SQLiteSeal.name.utf8)
        let end = cell + expected.count
        guard cell >= 8, end + 64 <= page.count, Array(page[cell..<end]) == expected else { return nil }
        return end
    }
}
