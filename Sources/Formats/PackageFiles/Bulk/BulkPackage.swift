package import Digests
package import Foundation

/// Writes the package's own dialect page by page, without SQLite.
///
/// Rows come in ascending order, so every page of the file is full and is written once; SQLite would write each page
/// through its cache. The bytes do not depend on a library version. The tables are those of ``MBTilesSchema``; metadata
/// and with it the seal come last, so that seal and digest share one pass over the file. SQLite reads every file back
/// before the file is reported as finished. Memory: 2 MB and a page for each level of the trees. Used by one thread at
/// a time.
package final class BulkPackage: PackageWriter {
    private let pages: SQLitePages
    private var tiles: SQLiteIndexTree
    private var bodies: SQLiteTableTree
    private var metadata: [(name: String, value: String)] = []
    private let isSmall: Bool

    private init(_ file: NewFile, pageSize: Int, lockByte: Int, isSmall: Bool) {
        self.isSmall = isSmall
        pages = SQLitePages(file, size: pageSize, lockByte: lockByte)
        tiles = SQLiteIndexTree(pages)
        bodies = SQLiteTableTree(pages)
    }

    /// Lets `body` write a new file, closes, seals and flushes it, while `readBack` may look at it.
    ///
    /// - Parameters:
    ///   - isSmall: Whether to leave out what a file of a few tiles does not need: the index of its metadata.
    ///   - memory: Bytes up to which the file is made in memory, see ``NewFile``.
    ///   - isFlushed: Whether a file that was made in memory must be on the medium at the end.
    /// - Returns: What `body` returned, and the file's SHA-256.
    /// - Throws: What `body` throws, `disk-full`, `io`; the caller must then remove the file.
    package static func write<Result>(
        _ url: URL, pageSize: Int = PackageDatabase.pageSize, lockByte: Int = 1 << 30,
        isSmall: Bool = false, inMemory memory: Int = 0, isFlushed: Bool = true,
        readBack: (Result, SealedContent) throws -> Void = { _, _ in }, _ body: (BulkPackage) throws -> Result
    ) throws -> (Result, Digest) {
        let file = try NewFile(creating: url, inMemory: memory)
        let package = BulkPackage(file, pageSize: pageSize, lockByte: lockByte, isSmall: isSmall)
        let result = try body(package)
        let root = try package.finish()
        let digest = try Sealing.run(
            file, isFlushed: isFlushed, { try SQLiteSeal.apply(to: $0, rootPage: root) },
            readBack: { try readBack(result, $0) })
        return (result, digest)
    }

    package func add(body: UnsafeRawBufferPointer, number: UInt32) throws {
        try bodies.add(UInt64(number), head: SQLiteRecord.headerOfBlob(body.count), rest: body)
    }

    package func add(zoom: Int, column: Int, row: Int, number: UInt32) throws {
        try tiles.add(SQLiteRecord.encode((Int64(zoom), Int64(column), Int64(row), Int64(number))))
    }

    package func add(metadata rows: [(name: String, value: String)]) { metadata += rows }

    /// Writes the remaining pages.
    ///
    /// - Returns: The page at which `metadata` begins.
    private func finish() throws -> Int {
        let tilesRoot = try tiles.finish()
        let bodiesRoot = try bodies.finish()
        let rows = [(name: SQLiteSeal.name, value: SQLiteSeal.blank)] + metadata
        var table = SQLiteTableTree(pages)
        for (number, row) in rows.enumerated() {
            try table.add(UInt64(number + 1), SQLiteRecord.encode([.text(row.name), .text(row.value)]))
        }
        let metadataRoot = try table.finish()
        let index = try indexEntries(rows.map(\.name))
        var objects = [(sql: MBTilesSchema.metadataTable, root: metadataRoot)]
        if !isSmall { objects.append((MBTilesSchema.metadataIndex, try finish(index))) }
        objects += zip(MBTilesSchema.deduplicated, [tilesRoot, bodiesRoot, 0]).map { ($0, $1) }
        try pages.finish(first: firstPage(objects))
        return Int(metadataRoot)
    }

    /// The rows of the index on the metadata's names.
    ///
    /// - Throws: `bad-spec` for a duplicate name.
    private func indexEntries(_ names: [String]) throws -> [[UInt8]] {
        var last: String?
        return try names.enumerated().sorted { $0.element.utf8.lexicographicallyPrecedes($1.element.utf8) }.map {
            number, name in
            guard name != last else {
                throw PackagesError(
                    .badSpec, "The metadata has '\(name.prefix(64))' twice; a package has each name once.")
            }
            last = name
            return SQLiteRecord.encode([.text(name), .integer(Int64(number + 1))])
        }
    }

    private func finish(_ entries: [[UInt8]]) throws -> UInt32 {
        var index = SQLiteIndexTree(pages)
        for entry in entries { try index.add(entry) }
        return try index.finish()
    }

    /// The header of the file and the table of its tables.
    private func firstPage(_ objects: [(sql: String, root: UInt32)]) throws -> [UInt8] {
        let cell = SQLiteCell.ofTable(pages)
        let rows = try objects.enumerated().map { number, object in
            let (sql, root) = object
            // CREATE [UNIQUE] TABLE|INDEX|VIEW name [ON table]
            let words = sql.split(separator: " ").map(String.init).filter { $0 != "UNIQUE" }
            let isIndex = words[1] == "INDEX"
            let row = SQLiteRecord.encode([
                .text(words[1].lowercased()), .text(words[2]), .text(isIndex ? words[4] : words[2]),
                .integer(Int64(root)), .text(sql),
            ])
            return try cell.make(number: UInt64(number + 1), row)
        }
        var page = SQLitePage.encode(.tableLeaf, rows, size: pages.size, offset: 100)
        var header = Array("SQLite format 3\0".utf8)
        header += [UInt8(truncatingIfNeeded: pages.size >> 8), UInt8(truncatingIfNeeded: pages.size)]
        // Rollback journal, no reserved bytes, the fixed fractions of a page.
        header += [1, 1, 0, 64, 32, 32]
        // Change counter 1; number of pages; no free pages; one schema version per object, in format 4; UTF-8; the
        // application id of MBTiles.
        let numbers: [UInt32] = [
            1, UInt32(pages.count), 0, 0, UInt32(objects.count), 4, 0, 0, 1, 0, 0, MBTilesSchema.applicationID, 0, 0, 0,
            0, 0, 1,
        ]
        for number in numbers { header.append(big: number) }
        page.replaceSubrange(0..<header.count, with: header)
        return page
    }
}
