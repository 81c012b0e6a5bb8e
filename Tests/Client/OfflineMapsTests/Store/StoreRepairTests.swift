import Foundation
import GRDB
import Testing

@testable import OfflineMaps

/// A damaged database is set aside and made again from the unit files.
struct StoreRepairTests {
    private let scratch: StoreScratch

    init() throws {
        scratch = try StoreScratch()
        var units: [InstalledFile] = []
        for (id, version) in [("EE", 1), ("EE", 2), ("LV", 5)] as [(String, Int32)] {
            let installed = try scratch.unit(id, version: version)
            let file = try #require(scratch.folder.file(installed.path))
            let source = CatalogOrigin(address: "a", key: "k", sequence: Int64(version) + 10)
            let document = InstalledFileDocument(installed, source: source)
            try Data(try document.encoded()).write(
                to: file.deletingLastPathComponent().appending(path: InstalledFileDocument.name))
            units.append(installed)
        }
        let database = try StoreDatabase.open(scratch.folder, isWorker: true)
        for installed in units { try database.install(installed) }
        try database.apply([.task(TaskRecord(id: TaskID(number: 1), kind: .list))])
        try database.close()
    }

    @Test func asLongAsItIsSoundNothingIsRepaired() throws {
        let (database, report) = try StoreRepair.open(scratch.folder)
        #expect(report == nil)
        #expect(try database.tasks().count == 1)
    }

    @Test(arguments: ["text instead", "zeros in pages", "cut in half", "header"])
    func aDamagedDatabaseIsMadeAgain(_ damage: String) throws {
        var bytes = [UInt8](try Data(contentsOf: scratch.folder.database))
        switch damage {
        case "text instead": bytes = Array("This is no database, and it is longer than a hundred bytes.".utf8)
        case "zeros in pages":
            for index in 4_096..<bytes.count where index % 3 != 0 { bytes[index] = 0 }
        case "cut in half": bytes = Array(bytes.prefix(bytes.count / 2))
        default: for index in 0..<60 { bytes[index] ^= 0x5A }
        }
        try Data(bytes).write(to: scratch.folder.database)
        let (database, report) = try StoreRepair.open(scratch.folder)
        #expect(report == StoreRepair.Report(setAside: "store.sqlite.damaged", units: 3))
        #expect(
            try database.files().map { "\($0.item.identifier) \($0.version)" }.sorted() == ["EE 2", "LV 5"])
        #expect(try database.files(.previous).map(\.version) == [1])
        #expect(try database.rows().sequences == ["address a": 15, "key k": 15])
        #expect(try database.rows().holds.map(\.item.identifier).sorted() == ["EE", "LV"])
        #expect(try database.tasks().isEmpty)
        let aside = scratch.url.appending(path: "store.sqlite.damaged")
        #expect([UInt8](try Data(contentsOf: aside)) == bytes)
        #expect(try StoreRepair.open(scratch.folder).report == nil)
    }

    private var aside: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).filter { $0.contains(".damaged") }
                .sorted()
        }
    }

    /// A journal of a database that is gone must not be applied to the new one.
    @Test(
        arguments: [
            ("missing", nil), ("missing", "-wal"), ("empty", nil), ("empty", "-wal"), ("missing", "-journal"),
            ("without tables", nil), ("without rows", nil),
        ] as [(String, String?)])
    func aBlankDatabaseBesideFilesIsMadeAgain(_ state: String, _ left: String?) throws {
        let file = scratch.folder.database
        for suffix in ["", "-journal", "-wal", "-shm"] {
            // Not all of them are there.
            try? FileManager.default.removeItem(atPath: file.path + suffix)
        }
        switch state {
        case "empty": try Data().write(to: file)
        case "without tables": try edit { try $0.execute(sql: "PRAGMA user_version = 1; VACUUM") }
        // As a process leaves it that only reads, or one that was killed in a rebuild.
        case "without rows": try StoreDatabase.open(scratch.folder, isWorker: false).close()
        default: break
        }
        if let left { try Data("left".utf8).write(to: URL(filePath: file.path + left)) }
        let (database, report) = try StoreRepair.open(scratch.folder)
        #expect(report?.units == 3 && report?.refused == [])
        #expect(try database.files().map { "\($0.item.identifier) \($0.version)" }.sorted() == ["EE 2", "LV 5"])
        #expect(try database.rows().holds.map(\.item.identifier).sorted() == ["EE", "LV"])
        #expect(try database.rows().sequences == ["address a": 15, "key k": 15])
        if let left {
            #expect(try aside.contains("store.sqlite.damaged\(left)"))
            let kept = scratch.url.appending(path: "store.sqlite.damaged\(left)")
            #expect(try Data(contentsOf: kept) == Data("left".utf8))
        }
        try database.close()
        let (again, second) = try StoreRepair.open(scratch.folder)
        #expect(second == nil)
        #expect(try again.files().count == 2)
    }

    @Test func withoutFilesABlankDatabaseIsNew() throws {
        try FileManager.default.removeItem(at: scratch.folder.database)
        try FileManager.default.removeItem(at: scratch.folder.units)
        let (database, report) = try StoreRepair.open(scratch.folder)
        #expect(report == nil)
        #expect(try database.isBlank())
        #expect(try aside.isEmpty)
    }

    /// A row says of which type its values are, so a flipped bit can change a type.
    @Test(arguments: ["installed_file.bytes", "installed_file.state", "hold.is_pack", "catalog.sequence"])
    func aValueOfAnotherTypeIsDamage(_ place: String) throws {
        let (table, column) = (String(place.prefix { $0 != "." }), String(place.drop { $0 != "." }.dropFirst()))
        let sql = try edit { database in
            try database.execute(sql: "INSERT INTO catalog (kind, name) VALUES (0, 'a')")
            let sql = try String.fetchOne(
                database, sql: "SELECT sql FROM sqlite_schema WHERE name = ?", arguments: [table])
            let loose = try #require(sql).replacing("STRICT, ", with: "").replacing("STRICT", with: "")
            try Self.setSchema(loose, of: table, database)
            return try #require(sql)
        }
        try edit { database in
            try database.execute(sql: "UPDATE \(table) SET \(column) = x'0102'")
            #expect(database.changesCount > 0)
            try Self.setSchema(sql, of: table, database)
        }
        // A process that only reads gets an error and does not end.
        let reader = try StoreDatabase.open(scratch.folder, isWorker: false)
        #expect(throws: StoreDatabase.Damage.self) { try reader.rows() }
        try reader.close()
        let (database, report) = try StoreRepair.open(scratch.folder)
        #expect(report == StoreRepair.Report(setAside: "store.sqlite.damaged", units: 3))
        #expect(try database.files().count == 2)
    }

    private func edit<Value>(_ change: (Database) throws -> Value) throws -> Value {
        let queue = try DatabaseQueue(path: scratch.folder.database.path)
        let value = try queue.writeWithoutTransaction(change)
        try queue.close()
        return value
    }

    private static func setSchema(_ sql: String, of table: String, _ database: Database) throws {
        try database.execute(sql: "PRAGMA writable_schema = ON")
        try database.execute(sql: "UPDATE sqlite_schema SET sql = ? WHERE name = ?", arguments: [sql, table])
        try database.execute(sql: "PRAGMA writable_schema = OFF")
    }

    @Test func unitFilesThatDoNotFitTheirFileAreNamed() throws {
        let files = try FileManager.default.subpathsOfDirectory(atPath: scratch.folder.units.path)
        let document = try #require(files.first { $0.contains("LV") && $0.hasSuffix(InstalledFileDocument.name) })
        let map = try #require(files.first { $0.contains("LV") && $0.hasSuffix(".mbtiles") })
        try Data("short".utf8).write(to: scratch.folder.units.appending(path: map))
        try Data("no database at all, but more than some bytes".utf8).write(to: scratch.folder.database)
        let (database, report) = try StoreRepair.open(scratch.folder)
        #expect(report?.refused == ["units/" + document])
        #expect(try database.files().map(\.item) == [.package("EE")])
    }

    @Test(arguments: [
        #""path":"../EE.mbtiles""#, #""path":"""#, #""item":"package|EE""#, #""sha256":"00""#, #""formatVersion":3"#,
        #""is_pack":true"#,
        #""mask":"AAAA""#, #""version":99999999999"#, #""bytes":-1"#, #""key":"package|LV|-|-|mbtiles""#,
    ])
    func hostileDocumentsAreRefused(_ field: String) throws {
        let installed = try scratch.unit("FI")
        let text = String(decoding: try InstalledFileDocument(installed).encoded(), as: UTF8.self)
        let name = field.split(separator: ":")[0]
        let start = try #require(text.range(of: name + ":"))
        let rest = text[start.upperBound...]
        let end = try #require(rest.firstIndex { $0 == "," || $0 == "}" })
        let file = scratch.url.appending(path: "unit.json")
        try Data((text[..<start.lowerBound] + field + text[end...]).utf8).write(to: file)
        #expect(InstalledFileDocument.read(file) == nil)
        try Data(text.utf8).write(to: file)
        #expect(InstalledFileDocument.read(file) == InstalledFileDocument(installed))
    }
}
