import Foundation
import GRDB
import Testing
import Tiles

@testable import OfflineMaps

/// Rows, swaps and the durable queue, on real files.
struct StoreDatabaseTests {
    let scratch: StoreScratch
    let database: StoreDatabase

    init() throws {
        scratch = try StoreScratch()
        database = try StoreDatabase.open(scratch.folder, isWorker: true)
    }

    @Test func hasTheSettingsOfADurableStore() throws {
        let (mode, level) = try database.read {
            (try String.fetchOne($0, sql: "PRAGMA journal_mode"), try Int.fetchOne($0, sql: "PRAGMA synchronous"))
        }
        #expect(mode == "persist" && level == 2)
    }

    @Test func unitsComeBackAsTheyWere() throws {
        var unit = try scratch.unit("EE", date: "2026-11-01")
        unit.expires = Date(timeIntervalSince1970: 1_000)
        unit.id = try database.swap([unit])[0]
        #expect(try database.units() == [unit])
    }

    @Test func aSwapKeepsPreviousVersionsAndRetiresOthers() throws {
        for version in 1...4 as ClosedRange<Int32> {
            try database.swap([try scratch.unit("EE", version: version)], keeping: 2)
        }
        try database.swap([try scratch.unit("LV")])
        #expect(try database.units([.current]).map(\.version) == [4, 1])
        #expect(try database.units([.previous]).map(\.version) == [2, 3])
        #expect(try database.units([.retired]).map(\.version) == [1])
        #expect(try database.rollBack(.package("EE")) == 3)
        #expect(try database.units([.current]).map(\.version).sorted() == [1, 3])
        #expect(try database.rollBack(.package("LV")) == nil)
        let gone = try database.units([.retired])
        try database.forget(gone)
        #expect(try database.units([.retired]).isEmpty)
    }

    @Test func aSwapIsAllOrNothing() throws {
        try database.swap([try scratch.unit("EE", version: 1), try scratch.unit("LV", version: 1)])
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER refuse BEFORE INSERT ON unit WHEN NEW.item LIKE 'package|LV%'
                    BEGIN SELECT RAISE(ABORT, 'refused'); END
                    """)
        }
        let next = [try scratch.unit("EE", version: 2), try scratch.unit("LV", version: 2)]
        #expect(throws: StoreError.self) { try database.swap(next) }
        #expect(try database.units().map(\.version) == [1, 1])
    }

    @Test func tasksAreDurableAndNumbersAreNotUsedAgain() throws {
        var task = TaskRow(kind: .install, item: .package("EE"))
        task.rule.priority = 3
        task.state = .paused(.diskFull(needed: 10, free: 5))
        (task.attempts, task.cause, task.part) = (2, .connection, "aa")
        task.id = try database.write([task])[0]
        let other = try StoreDatabase.open(scratch.folder, isWorker: false)
        #expect(try other.tasks() == [task])
        let version = try other.dataVersion()
        task.state = .waiting(.backoff(.milliseconds(1_500)))
        try database.write([task])
        #expect(try other.dataVersion() != version)
        #expect(try other.tasks() == [task])
        try database.swap([try scratch.unit("EE")], done: [task.id])
        #expect(try other.tasks().isEmpty)
        #expect(try database.write([TaskRow(kind: .list)])[0] > task.id)
    }

    @Test func whatARegionHoldsIsNotRetired() throws {
        let numbers = try database.swap([try scratch.unit("EE"), try scratch.unit("LV")])
        try database.write {
            try $0.execute(sql: "INSERT INTO region_unit VALUES ('trip', ?)", arguments: [numbers[0]])
        }
        #expect(try database.retire(.package("EE")).isEmpty)
        #expect(try database.retire(.package("LV")).map(\.id) == [numbers[1]])
        #expect(try database.units().map(\.id) == [numbers[0]])
    }

    @Test func sequencesNeverFallUnlessAllowed() throws {
        func replace(_ sequence: Int64?, allowOlder: Bool = false) throws {
            let catalog = VerifiedCatalog(content: CatalogContent(), key: "k", sequence: sequence)
            try database.replaceOffers(catalog, address: "a", mark: CatalogMark(etag: "e"), allowOlder: allowOlder)
        }
        try replace(5)
        try replace(3)
        try replace(nil)
        #expect(try database.sequences() == KnownSequences(byAddress: ["a": 5], byKey: ["k": 5]))
        try replace(4, allowOlder: true)
        #expect(try database.sequences() == KnownSequences(byAddress: ["a": 4], byKey: ["k": 4]))
        #expect(try database.mark(address: "a")?.etag == "e")
        #expect(try database.mark(address: "b") == nil)
        let now = Date(timeIntervalSince1970: 77)
        try database.noteUnchanged(address: "a", at: now)
        #expect(try database.mark(address: "a") == CatalogMark(etag: "e", checkedAt: now))
    }

    @Test func severalConnectionsMakeAStoreAtOnce() async throws {
        let scratch = try StoreScratch()
        let folder = scratch.folder
        try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let database = try StoreDatabase.open(folder, isWorker: false)
                    return try database.write([TaskRow(kind: .install, item: .style("s\(number)"))])[0].number
                }
            }
            var numbers: Set<Int64> = []
            for try await number in group { numbers.insert(number) }
            #expect(numbers == Set(1...8))
        }
    }

    @Test func aNewerStoreIsOnlyRead() throws {
        try database.swap([try scratch.unit("EE")])
        try database.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
        let again = try StoreDatabase.open(scratch.folder, isWorker: true)
        #expect(again.isNewer)
        #expect(try again.units().count == 1)
        let error = #expect(throws: StoreError.self) { try again.write([TaskRow(kind: .list)]) }
        #expect(error?.code == .newerStore)
    }
}
