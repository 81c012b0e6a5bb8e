package import Digests
internal import Errors
internal import Files
package import Foundation
package import GRDB

/// The seal of a SQLite file: the SHA-256 of the whole file, kept inside it.
///
/// A row `packhorse_seal` holds 64 hexadecimal digits: the hash of all bytes of the file, with those 64 read as '0'. So the file
/// proves itself alone: any byte that changes, in unused parts of pages too, changes the hash. The row is the first of its
/// table, which is how its bytes are found without guessing (tile bodies may hold any text).
package enum SQLiteSeal {
    /// The row's name.
    package static let name = "packhorse_seal"
    /// What stands in place of the seal while the hash is taken.
    package static let blank = String(repeating: "0", count: 64)
    /// The version of SQLite that every file names in its header, whatever library wrote it: the first that wrote the field.
    ///
    /// The number says who changed the file last and no reader acts on it (sqlite.org/fileformat2.html, 1.2.19); as the library
    /// leaves it, workers with different libraries would make different packages.
    private static let libraryVersion: UInt32 = 3_007_000

    /// Puts the row, still without a value, into a table of two columns that must be empty.
    package static func insert(into table: String, _ database: Database) throws {
        try database.execute(
            sql: "INSERT INTO \(table) VALUES (?, ?)", arguments: [name, blank])
    }

    /// Whether a file's first 100 bytes have the library version that ``apply(to:rootPage:)`` leaves there.
    ///
    /// A file with this version and without a seal has lost its seal.
    package static func isStamped(_ head: [UInt8]) -> Bool {
        head.count >= 100 && head[96..<100].reduce(0) { $0 << 8 | UInt32($1) } == libraryVersion
    }

    /// The page a table begins at; 0 when there is no such table.
    package static func rootPage(of table: String, _ database: Database) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?", arguments: [table])
            ?? 0
    }

    /// Sets the header's library version and then the seal of a closed file.
    ///
    /// Bytes after the seal are read twice, so the seal should be near the end of the file.
    ///
    /// - Returns: The SHA-256 of the sealed file.
    /// - Throws: ``PackagesError`` `verification-failed` when the row is not the first of its table.
    @discardableResult
    package static func apply(to url: URL, rootPage: Int) throws -> Digest {
        let file = try NewFile(changing: url)
        let digest = try apply(to: file, rootPage: rootPage)
        try file.close()
        return digest
    }

    /// Does the same to a complete file that is not closed.
    package static func apply(to file: NewFile, rootPage: Int) throws -> Digest {
        try file.write((0..<4).map { UInt8(truncatingIfNeeded: libraryVersion >> (24 - 8 * $0)) }, at: 96)
        guard let place = SealPosition.find(in: file, rootPage: rootPage) else {
            throw PackagesError(
                .verificationFailed, "'\(file.url.path)' has no row for its seal; this is a bug in Packhorse.")
        }
        // What comes before the seal is the same for both hashes.
        var sealed = DigestHasher()
        let start = try add(file, from: 0, to: place, &sealed)
        var unsealed = sealed
        unsealed.update(Array(blank.utf8))
        _ = try add(file, from: start + 64, to: file.size, &unsealed)
        let seal = Array(unsealed.finish().hex.utf8)
        try file.write(seal, at: place)
        sealed.update(seal)
        _ = try add(file, from: start + 64, to: file.size, &sealed)
        return sealed.finish()
    }

    /// Adds a part of a file to a hash and returns its end.
    private static func add(
        _ file: any SealableFile, from start: UInt64, to end: UInt64, _ hash: inout DigestHasher
    ) throws -> UInt64 {
        var offset = start
        while offset < end {
            let piece = try file.read(at: offset, count: Int(min(1 << 20, end - offset)))
            hash.update(piece)
            offset += UInt64(piece.count)
        }
        return end
    }

    /// The state of an MBTiles file's seal; reads all bytes of a sealed one.
    package static func state(of url: URL) throws -> VerifyReport.Seal {
        var report = VerifyReport(path: url.path, size: 0, kind: "MBTiles")
        do {
            try PackageDatabase.reading(url) { try check(url, table: "metadata", in: $0, into: &report) }
        } catch let error as DatabaseError { throw ArchiveError(reading: error, url.path) }
        return report.seal
    }

    /// Says in the report whether the seal holds; a file without one is not wrong.
    package static func check(
        _ url: URL, table: String, in database: Database, into report: inout VerifyReport
    ) throws {
        let rows = try Row.fetchAll(
            database, sql: "SELECT value FROM \(table) WHERE name = ? LIMIT 2", arguments: [name])
        guard let row = rows.first else { return }
        report.seal = .broken
        let value: DatabaseValue = row[0]
        guard rows.count == 1, case .string(let stated) = value.storage, stated.utf8.count == 64 else {
            return report.add("seal-broken", at: "seal", because: "its row is not one text of 64 hexadecimal digits")
        }
        let file = try FileDescriptor(reading: url)
        guard let place = SealPosition.find(in: file, rootPage: try rootPage(of: table, database)) else {
            return report.add("seal-broken", at: "seal", because: "its row is not the first of '\(table)'")
        }
        let found = try hash(file, sealAt: place)
        guard found == stated else {
            return report.add("seal-broken", at: "file", because: "its bytes hash to \(found), its seal says \(stated)")
        }
        report.seal = .valid
    }

    private static func hash(_ file: FileDescriptor, sealAt place: UInt64) throws -> String {
        var hash = DigestHasher()
        let start = try add(file, from: 0, to: place, &hash)
        hash.update(Array(blank.utf8))
        _ = try add(file, from: start + 64, to: file.size, &hash)
        return hash.finish().hex
    }
}
