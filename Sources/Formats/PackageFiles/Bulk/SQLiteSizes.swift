/// Computes how many pages the tables of a package take from the sizes of their rows, without writing them.
///
/// The same rules as ``SQLiteTableTree`` and ``SQLiteIndexTree``: a page is full when the next row does not fit.
package enum SQLiteSizes {
    /// Pages of a table of BLOBs that is filled in ascending order.
    package struct Table {
        private let pageSize: Int
        private var rows = 0
        /// Leaves so far.
        package private(set) var leaves = 1
        private var chained = 0
        private var used = SQLitePage.Kind.tableLeaf.headerSize

        package init(pageSize: Int) { self.pageSize = pageSize }

        /// Adds a row of `bytes` bytes of BLOB and `others` bytes of other values with the record's header.
        package mutating func add(blob bytes: Int, others: Int) {
            rows += 1
            let (cell, chain) = SQLiteSizes.cell(blob: bytes, others: others, number: rows, pageSize: pageSize)
            chained += chain
            if used + cell > pageSize {
                leaves += 1
                used = SQLitePage.Kind.tableLeaf.headerSize
            }
            used += cell
        }

        /// Leaves, chains and inner pages.
        package var pages: Int {
            leaves + chained + SQLiteSizes.inner(leaves, entry: 6 + varint(rows), pageSize: pageSize)
        }
    }

    /// What a row with a BLOB takes: bytes of its cell with the pointer to it, and pages of its chain.
    package static func cell(blob: Int, others: Int, number: Int, pageSize: Int) -> (cell: Int, chained: Int) {
        let whole = blob + others
        let kept = SQLiteCell.stay(whole, most: SQLiteCell.maxTablePayload(pageSize), pageSize: pageSize)
        let cell = varint(whole) + varint(number) + kept + (kept < whole ? 4 : 0) + 2
        return (cell, kept < whole ? (whole - kept + pageSize - 5) / (pageSize - 4) : 0)
    }

    /// Pages of an index, or of a table without row numbers, of `rows` rows of `bytes` bytes each.
    package static func index(rows: Int, bytes: Int, pageSize: Int) -> Int {
        // Between two leaves lies a row that is in the inner page.
        let perLeaf = max(1, (pageSize - SQLitePage.Kind.indexLeaf.headerSize) / (bytes + 3)) + 1
        let leaves = max(1, (rows + perLeaf - 1) / perLeaf)
        return leaves + inner(leaves, entry: bytes + 7, pageSize: pageSize)
    }

    /// Bytes of a record of `tiles_shallow`: place, and the body's number.
    package static func placeRecord(_ values: [Int]) -> Int { 1 + values.count + values.reduce(0) { $0 + integer($1) } }

    /// Bytes that an integer takes in a record.
    package static func integer(_ value: Int) -> Int {
        switch value {
        case 0, 1: 0
        case ..<128: 1
        case ..<32_768: 2
        case ..<8_388_608: 3
        case ..<2_147_483_648: 4
        default: 6
        }
    }

    package static func varint(_ value: Int) -> Int { value < 128 ? 1 : value < 16_384 ? 2 : value < 2_097_152 ? 3 : 4 }

    private static func inner(_ pages: Int, entry: Int, pageSize: Int) -> Int {
        var (level, sum) = (pages, 0)
        let fan = max(2, (pageSize - 12) / entry)
        while level > 1 {
            level = (level + fan - 1) / fan
            sum += level
        }
        return sum
    }
}
