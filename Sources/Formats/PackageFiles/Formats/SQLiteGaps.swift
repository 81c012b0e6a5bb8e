package import Files
internal import SQLiteFiles

/// Zeroes what SQLite leaves unused inside the pages of a file's b-trees.
///
/// Between the list of cells and the cells themselves a page has a gap. SQLite never reads it, and leaves remains of
/// its balancing there, which differ between versions of the library (3.40.1 and 3.54.1 were compared: with
/// `secure_delete` nothing else differs). Source: sqlite.org/fileformat2.html, section 1.6.
package enum SQLiteGaps {
    /// Zeroes the gaps of a file's pages; safe for any bytes: in a damaged database it leaves or zeroes pages as their
    /// headers say.
    ///
    /// - Parameters:
    ///   - file: A file that was just written and closed.
    ///   - roots: The first pages of all its tables and indexes; page 1 is always looked at.
    /// - Throws: `StorageError` `io`.
    package static func zero(in file: FileDescriptor, roots: [Int]) throws {
        guard let header = SQLiteFileHeader(try file.read(at: 0, count: Int(min(100, file.size)))) else { return }
        let size = header.pageSize
        guard size >= 512 else { return }
        var pages = [1] + roots
        // Each page belongs to one tree, once.
        var left = file.size / UInt64(size)
        while let number = pages.popLast(), left > 0 {
            left -= 1
            guard number >= 1, number <= Int(file.size / UInt64(size)) else { continue }
            let start = UInt64(number - 1) * UInt64(size)
            let page = try file.read(at: start, count: size)
            let gap = gap(in: page, from: number == 1 ? 100 : 0, &pages)
            if page[gap].contains(where: { $0 != 0 }) {
                try file.write([UInt8](repeating: 0, count: gap.count), at: start + UInt64(gap.lowerBound))
            }
        }
    }

    /// The gap of a page, after adding the pages below it; empty when it is no page of a b-tree.
    private static func gap(in page: [UInt8], from offset: Int, _ pages: inout [Int]) -> Range<Int> {
        func big(_ place: Int, _ count: Int) -> Int {
            place + count <= page.count ? page[place..<place + count].reduce(0) { $0 << 8 | Int($1) } : 0
        }
        let isInterior = page[offset] == 2 || page[offset] == 5
        guard isInterior || page[offset] == 10 || page[offset] == 13 else { return 0..<0 }
        let cells = big(offset + 3, 2)
        let list = offset + (isInterior ? 12 : 8)
        if isInterior {
            for cell in 0..<cells { pages.append(big(big(list + 2 * cell, 2), 4)) }
            pages.append(big(offset + 8, 4))
        }
        // 0 stands for 65,536.
        let content = big(offset + 5, 2) == 0 ? page.count : min(big(offset + 5, 2), page.count)
        return list + 2 * cells < content ? list + 2 * cells..<content : 0..<0
    }
}
