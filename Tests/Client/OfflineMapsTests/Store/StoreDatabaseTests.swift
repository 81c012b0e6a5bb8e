import Foundation
import GRDB
import Testing
import Tiles

@testable import OfflineMaps

/// Rows, transactions and requests, on real files.
struct StoreDatabaseTests {
    let scratch: StoreScratch
    let database: StoreDatabase

    init() throws {
        scratch = try StoreScratch()
        database = try StoreDatabase.open(scratch.folder, isWorker: true)
    }

    private func task(_ number: Int64, _ kind: TaskKind = .install, _ items: [Item] = [.package("EE")]) -> TaskRecord {
        TaskRecord(id: TaskID(number: number), kind: kind, items: items)
    }

    @Test func hasTheSettingsOfADurableStore() throws {
        let (mode, level) = try database.read {
            (try String.fetchOne($0, sql: "PRAGMA journal_mode"), try Int.fetchOne($0, sql: "PRAGMA synchronous"))
        }
        #expect(mode == "persist" && level == 2)
    }

    @Test func unitsComeBackAsTheyWere() throws {
        var installed = try scratch.unit("EE", date: "2026-11-01")
        (installed.expires, installed.usedAt, installed.order, installed.template) = (
            1_000, 2_000, 3, "https://t/{z}/{x}/{y}.pbf"
        )
        try database.install(installed)
        #expect(try database.files() == [installed])
    }

    /// Every change leads to the same rows in memory and on disk.
    @Test func rowsAreThoseOfTheRules() throws {
        let installed = try scratch.unit("EE")
        var settings = StoreSettings()
        settings.quota.bytes = 5
        settings.nextTask = 9
        var record = task(3)
        record.rule.priority = -1
        record.rule.startAt = Coordinate(longitude: 25, latitude: 59)
        record.failure = .badBytes
        var other = installed
        (other.state, other.order) = (.previous, 7)
        let hold = Hold(key: installed.id.key, item: installed.item)
        let steps: [[Change]] = [
            [.task(record), .task(task(4, .remove, [.region("x"), .style("s")])), .settings(settings)],
            [
                .file(installed), .hold(hold),
                .hold(Hold(key: InstalledFileKey(name: "p", isPack: true), item: .region("x"))),
            ],
            [.sequence("address a", 5), .sequence("key k", 7), .tiles(.region("x"), 40), .tiles(.region("y"), 2)],
            [.file(other), .dropHold(hold), .tiles(.region("x"), 0), .sequence("address a", 4)],
            [.endTask(TaskID(number: 3)), .removeFile(installed.id), .answered(RequestID(number: -1), .done)],
        ]
        var rows = StoreRows()
        for step in steps {
            for change in step { rows.apply(change) }
            try database.apply(step)
            #expect(try database.rows() == rows)
        }
        #expect(try StoreDatabase.open(scratch.folder, isWorker: true).rows() == rows)
    }

    @Test func aTransactionIsAllOrNothing() throws {
        try database.install(try scratch.unit("EE", version: 1))
        let before = try database.rows()
        let next = try scratch.unit("EE", version: 2)
        // The list is not there.
        #expect(throws: StoreError.self) { try database.apply([.task(task(1)), .file(next), .catalog(9)]) }
        #expect(try database.rows() == before)
    }

    @Test func anAcceptedListReplacesTheOffers() throws {
        var content = CatalogContent()
        content.nodes = [CatalogContent.Node(id: "001", parent: nil, kind: "world", names: ["en": "World"])]
        content.packLimit = 12
        func accept(_ sequence: UInt64) throws {
            let verified = VerifiedCatalog(content: content, key: "k", sequence: Int64(sequence))
            let mark = CatalogMark(etag: "e\(sequence)", checkedAt: Date(timeIntervalSince1970: 5))
            try database.apply(
                [.catalog(sequence), .sequence("address a", sequence)],
                ChangeDetails(catalog: CatalogCandidate(verified: verified, address: "a", mark: mark)))
        }
        #expect(try database.content() == nil)
        try accept(5)
        #expect(try database.content() == content)
        content.packLimit = 13
        try accept(6)
        #expect(try database.content() == content)
        #expect(try database.rows().catalog == 6)
        #expect(try database.mark(address: "a")?.etag == "e6")
        let now = Date(timeIntervalSince1970: 77)
        try database.noteUnchanged(address: "a", CatalogMark(etag: nil, checkedAt: now))
        #expect(try database.mark(address: "a") == CatalogMark(etag: "e6", checkedAt: now))
        #expect(throws: StoreError.self) { try database.apply([.catalog(7)]) }
        try database.dropOffers()
        #expect(try database.content() == nil)
        #expect(try database.rows().catalog == 0)
        #expect(try database.rows().sequences == ["address a": 6])
    }

    @Test func aRequestIsAnsweredOnce() throws {
        let other = try StoreDatabase.open(scratch.folder, isWorker: false)
        let id = try other.addRequest(.add(task(0)))
        let second = try other.addRequest(.setQuota(Quota()))
        #expect(try database.openRequests().map(\.id) == [id, second])
        #expect(try database.openRequests().first?.request == .add(task(0)))
        let version = try other.dataVersion()
        try database.apply([.answered(id, .task(TaskID(number: 4)))])
        #expect(try other.dataVersion() != version)
        #expect(try other.takeAnswers(to: [id, second]) == [id: .task(TaskID(number: 4))])
        #expect(try other.takeAnswers(to: [id, second]).isEmpty)
        #expect(try database.openRequests().map(\.id) == [second])
    }

    @Test func theEndOfARemovalRemovesTheRegion() throws {
        let area = RegionDefinition(
            .around([Coordinate(longitude: 25, latitude: 59)], meters: 10),
            zooms: try #require(ZoomRange(min: 0, max: 2)),
            sources: [])
        try database.setRegion("a", area, context: Data([1]))
        try database.setRegion("b", area, context: Data())
        try database.setNeeds(["a": RegionNeeds(units: ["u"])])
        #expect(try database.setContext(Data([2]), of: "a"))
        #expect(try !database.setContext(Data([2]), of: "c"))
        let row = try #require(try database.regions()["a"])
        #expect(row.context == Data([2]) && row.needs?.units == ["u"] && row.definition.zooms == area.zooms)
        try database.apply([.task(task(1, .load, [.region("b")])), .task(task(2, .remove, [.region("a")]))])
        try database.apply([.endTask(TaskID(number: 1)), .endTask(TaskID(number: 2))])
        #expect(try database.regions().keys.map(\.text) == ["b"])
    }

    @Test func severalConnectionsMakeAStoreAtOnce() async throws {
        let scratch = try StoreScratch()
        let folder = scratch.folder
        try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let database = try StoreDatabase.open(folder, isWorker: false)
                    return try database.addRequest(.cancel(TaskID(number: Int64(number)))).number
                }
            }
            var numbers: Set<Int64> = []
            for try await number in group { numbers.insert(number) }
            #expect(numbers == Set(1...8))
        }
    }

    @Test func aDatabaseThatWasClosedRefusesCalls() async throws {
        let database = try StoreDatabase.open(scratch.folder, isWorker: true)
        // Others read while it is closed.
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<200 { do { _ = try database.rows() } catch { #expect(error is StoreError) } }
                }
            }
            group.addTask { try? database.close() }
        }
        let error = #expect(throws: StoreError.self) { try database.rows() }
        #expect(error?.code == .wrongState)
        #expect(throws: StoreError.self) { try database.setGroups(["a"]) }
        try database.close()
    }

    @Test func aNewerStoreIsOnlyRead() throws {
        try database.install(try scratch.unit("EE"))
        try database.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
        let again = try StoreDatabase.open(scratch.folder, isWorker: true)
        #expect(again.isNewer)
        #expect(try again.files().count == 1)
        let error = #expect(throws: StoreError.self) { try again.addRequest(.setQuota(Quota())) }
        #expect(error?.code == .newerStore)
    }
}
