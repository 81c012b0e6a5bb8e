/// Makes b-tree cells: a whole row, or the part of it that stays in the tree page; the rest goes into a chain of
/// overflow pages.
///
/// Source: sqlite.org/fileformat2.html, section 1.6 (which bytes stay) and 1.7 (the chain).
struct SQLiteCell {
    let pages: SQLitePages
    /// The most bytes of a row that stay in the page as a whole.
    let most: Int

    /// For leaves of tables, whose pages may be filled by one row.
    static func ofTable(_ pages: SQLitePages) -> SQLiteCell {
        SQLiteCell(pages: pages, most: maxTablePayload(pages.size))
    }
    /// The most bytes of a row that stay in a leaf of a table.
    static func maxTablePayload(_ pageSize: Int) -> Int { pageSize - 35 }
    /// For indexes, where at least four rows must fit in a page.
    static func ofIndex(_ pages: SQLitePages) -> SQLiteCell {
        SQLiteCell(pages: pages, most: (pages.size - 12) * 64 / 255 - 23)
    }

    /// The cell of a row made of two parts.
    ///
    /// - Parameter number: The row's number, in tables.
    func make(number: UInt64? = nil, _ head: [UInt8], _ rest: UnsafeRawBufferPointer) throws -> [UInt8] {
        let whole = head.count + rest.count
        let kept = Self.stay(whole, most: most, pageSize: pages.size)
        var cell: [UInt8] = []
        cell.reserveCapacity(kept + 22)
        SQLiteRecord.append(UInt64(whole), to: &cell)
        if let number { SQLiteRecord.append(number, to: &cell) }
        cell += head
        guard kept < whole else {
            cell.append(contentsOf: rest)
            return cell
        }
        // The head is shorter than the minimum that stays in the page.
        cell.append(contentsOf: UnsafeRawBufferPointer(rebasing: rest[..<(kept - head.count)]))
        let chained = UnsafeRawBufferPointer(rebasing: rest[(kept - head.count)...])
        cell.append(big: try chain(chained))
        return cell
    }

    /// The cell of a row in one part.
    func make(number: UInt64? = nil, _ row: [UInt8]) throws -> [UInt8] {
        try row.withUnsafeBytes { try make(number: number, [], $0) }
    }

    /// How many of a row's bytes stay in the page of its tree.
    static func stay(_ whole: Int, most: Int, pageSize: Int) -> Int {
        guard whole > most else { return whole }
        let least = (pageSize - 12) * 32 / 255 - 23
        let kept = least + (whole - least) % (pageSize - 4)
        return kept <= most ? kept : least
    }

    /// Writes a chain and returns its first page.
    private func chain(_ bytes: UnsafeRawBufferPointer) throws -> UInt32 {
        let first = pages.next
        var done = 0
        while done < bytes.count {
            let part = min(pages.size - 4, bytes.count - done)
            let follows = done + part < bytes.count ? pages.following(pages.next) : 0
            var link: [UInt8] = []
            link.append(big: UInt32(follows))
            try link.withUnsafeBytes { link in
                _ = try pages.append(link, UnsafeRawBufferPointer(rebasing: bytes[done..<(done + part)]))
            }
            done += part
        }
        return UInt32(first)
    }
}

extension [UInt8] {
    /// Appends the four bytes of a number, the highest first.
    mutating func append(big number: UInt32) {
        for shift in stride(from: 24, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> UInt32(shift))) }
    }
}
