/// A page of a tree that fills with cells.
struct SQLitePage {
    enum Kind: UInt8 {
        case indexInner = 2
        case tableInner = 5
        case indexLeaf = 10
        case tableLeaf = 13

        var headerSize: Int { self == .indexInner || self == .tableInner ? 12 : 8 }
    }

    /// The bytes of a page with these cells, ascending.
    ///
    /// - Parameters:
    ///   - offset: Where the page's own header begins: 100 on page 1.
    ///   - right: The child after the last cell, in inner pages.
    static func encode(
        _ kind: Kind, _ cells: some Collection<[UInt8]>, size: Int, offset: Int = 0, right: UInt32? = nil
    ) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: size)
        var end = size
        var place = offset + kind.headerSize
        page.withUnsafeMutableBytes { page in
            for cell in cells {
                end -= cell.count
                precondition(place + 2 <= end, "A page has more cells than fit: a bug in the tree that made it.")
                cell.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: page[end..<end + $0.count]).copyMemory(from: $0)
                }
                page[place] = UInt8(truncatingIfNeeded: end >> 8)
                page[place + 1] = UInt8(truncatingIfNeeded: end)
                place += 2
            }
        }
        page[offset] = kind.rawValue
        // 65,536 is written as 0 (its lower 16 bits).
        for (at, number) in [(3, cells.count), (5, end)] {
            page[offset + at] = UInt8(truncatingIfNeeded: number >> 8)
            page[offset + at + 1] = UInt8(truncatingIfNeeded: number)
        }
        if let right {
            var bytes: [UInt8] = []
            bytes.append(big: right)
            page.replaceSubrange(offset + 8..<offset + 12, with: bytes)
        }
        return page
    }
}

/// A table that is filled in ascending order of its row numbers.
struct SQLiteTableTree {
    private let pages: SQLitePages
    private let cell: SQLiteCell
    private var inner: SQLiteInnerPages
    private var leaf: [[UInt8]] = []
    private var used = SQLitePage.Kind.tableLeaf.headerSize
    private var last: UInt64 = 0

    init(_ pages: SQLitePages) {
        self.pages = pages
        cell = .ofTable(pages)
        inner = SQLiteInnerPages(.tableInner, pages)
    }

    /// Adds a row; its number must be above all before.
    mutating func add(_ number: UInt64, head: [UInt8], rest: UnsafeRawBufferPointer) throws {
        guard number > last else {
            throw PackagesError(.verificationFailed, "Row \(number) after row \(last); this is a bug in Packhorse.")
        }
        let row = try cell.make(number: number, head, rest)
        if used + row.count + 2 > pages.size {
            try inner.add(.init(page: try writeLeaf(), key: Self.key(last)))
        }
        leaf.append(row)
        used += row.count + 2
        last = number
    }

    mutating func add(_ number: UInt64, _ row: [UInt8]) throws {
        try row.withUnsafeBytes { try add(number, head: [], rest: $0) }
    }

    /// Writes the remaining cells and returns the page of the root.
    mutating func finish() throws -> UInt32 { try inner.finish(last: try writeLeaf()) }

    private mutating func writeLeaf() throws -> UInt32 {
        defer {
            leaf.removeAll(keepingCapacity: true)
            used = SQLitePage.Kind.tableLeaf.headerSize
        }
        return UInt32(try pages.append(SQLitePage.encode(.tableLeaf, leaf, size: pages.size)))
    }

    private static func key(_ number: UInt64) -> [UInt8] {
        var key: [UInt8] = []
        SQLiteRecord.append(number, to: &key)
        return key
    }
}

/// An index, or a table without row numbers, that is filled in ascending order.
struct SQLiteIndexTree {
    private let pages: SQLitePages
    private let cell: SQLiteCell
    private var inner: SQLiteInnerPages
    /// A full leaf and the row between it and the next leaf; held until the next leaf has a row.
    private var full: (leaf: [[UInt8]], between: [UInt8])?
    private var leaf: [[UInt8]] = []
    private var used = SQLitePage.Kind.indexLeaf.headerSize

    init(_ pages: SQLitePages) {
        self.pages = pages
        cell = .ofIndex(pages)
        inner = SQLiteInnerPages(.indexInner, pages)
    }

    /// Adds a row, which must be above all before.
    mutating func add(_ row: [UInt8]) throws {
        let row = try cell.make(row)
        if used + row.count + 2 > pages.size {
            try writeFull()
            full = (leaf, row)
            leaf = []
            used = SQLitePage.Kind.indexLeaf.headerSize
        } else {
            leaf.append(row)
            used += row.count + 2
        }
    }

    /// Writes the remaining cells and returns the page of the root.
    mutating func finish() throws -> UInt32 {
        if leaf.isEmpty, let (rows, between) = full, let last = rows.last {
            full = (rows.dropLast(), last)
            leaf = [between]
        }
        try writeFull()
        return try inner.finish(last: try write(leaf))
    }

    private mutating func writeFull() throws {
        guard let (rows, between) = full else { return }
        try inner.add(.init(page: try write(rows), key: between))
        full = nil
    }

    private func write(_ rows: [[UInt8]]) throws -> UInt32 {
        UInt32(try pages.append(SQLitePage.encode(.indexLeaf, rows, size: pages.size)))
    }
}
