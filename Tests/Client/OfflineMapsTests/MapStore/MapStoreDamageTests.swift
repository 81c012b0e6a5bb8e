import Foundation
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// Maps whose files are damaged: what can be read stays, and a download puts the whole file in their place.
@Suite(.timeLimit(.minutes(15)))
struct MapStoreDamageTests {
    private let site: StoreSite
    private let map: TestMap
    private let path: String

    init() throws {
        site = try StoreSite()
        map = try TestMap((7, 72, 37), depth: 4)
        path = try site.add("EE", depth: 4)
        try site.addStyle("streets")
        try site.publish()
    }

    private func installed(_ edit: (inout StoreOptions) -> Void = { _ in }) async throws -> OfflineMaps {
        let store = try await site.store(edit)
        try await store.refreshCatalog()
        #expect(
            try await store.states { try await $0.install([.package("EE"), .style("streets")]) } == [.done, .done])
        return OfflineMaps(store)
    }

    /// Writes over bytes of an installed file, where it is.
    private func overwrite(_ file: URL, at place: Int, _ count: Int) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: UInt64(place))
        try handle.write(contentsOf: Data(repeating: 0xA5, count: count))
        try handle.close()
    }

    /// Writes over the body of a tile.
    @discardableResult private func breakTile(_ tile: TileID, of file: URL) throws -> Data {
        let whole = try Data(contentsOf: file)
        let body = try #require(whole.firstRange(of: Data(TestMap.body("EE 1", tile))))
        try overwrite(file, at: body.lowerBound + 12, body.count - 12)
        return whole
    }

    private func file(_ maps: OfflineMaps) async throws -> URL {
        try #require(try await maps.store.url(of: .package("EE")))
    }

    private func download(_ maps: OfflineMaps) async throws {
        var last: DownloadProgress?
        for try await progress in maps.download("EE", style: "streets") { last = progress }
        #expect(last?.isComplete == true)
    }

    @Test func aMapWhoseHeaderIsBrokenStaysUntilItsDownloadIsHere() async throws {
        let maps = try await installed()
        let (store, file) = (maps.store, try await file(maps))
        let whole = try Data(contentsOf: file)
        await store.suspend()
        try overwrite(file, at: 0, 100)
        let again = OfflineMaps(try await site.store())
        let error = #expect(throws: StoreError.self) { try again.store.tiles.tile(map.cell) }
        #expect(error?.code == .damaged && error?.advice?.contains("repair") == true, "\(error as Any)")
        #expect(error?.message.contains(file.lastPathComponent) == true, "\(error as Any)")
        let status = try #require(try await again.store.status(of: .package("EE")))
        #expect(status.isDamaged && status.installed?.isDamaged == true && status.missingFiles.isEmpty)
        #expect(try await again.store.url(of: .package("EE")) == file)
        #expect(try Data(contentsOf: file).count == whole.count)
        #expect(try await again.store.updates().changes.map(\.item) == [.package("EE")])
        // Also after a restart.
        await again.store.suspend()
        let third = OfflineMaps(try await site.store())
        #expect(try await third.store.status(of: .package("EE"))?.isDamaged == true)
        try await download(third)
        #expect(try Data(contentsOf: file) == whole && site.sent(path) == 2 * whole.count)
        #expect(try third.store.shows("EE 1", map))
        #expect(try await third.store.status(of: .package("EE"))?.isDamaged == false)
        #expect(try await third.store.agreesWithTheDisk())
    }

    @Test func aTileThatARendererCannotUnpackIsDownloadedAgain() async throws {
        let maps = try await installed()
        let file = try await file(maps)
        let (broken, other) = (try #require(map.tiles.last), try #require(map.tiles.dropLast().last))
        let whole = try breakTile(broken, of: file)
        func read(_ tile: TileID) throws -> Data? {
            guard case .found(let found) = try maps.store.tiles.tile(tile) else { return nil }
            return try found.uncompressed()
        }
        let error = #expect(throws: StoreError.self) { try read(broken) }
        #expect(error?.code == .damaged)
        #expect(try read(other) != nil)
        // At once, without a wait for the report.
        try await download(maps)
        #expect(try Data(contentsOf: file) == whole && site.sent(path) == 2 * whole.count)
        #expect(try read(broken) != nil)
    }

    @Test func oneCallChecksEveryByte() async throws {
        let maps = try await installed()
        let (store, file) = (maps.store, try await file(maps))
        #expect(try await maps.verify().isEmpty)
        let whole = try breakTile(try #require(map.tiles.last), of: file)
        try await download(maps)
        #expect(site.sent(path) == whole.count, "no read has found it")
        let findings = try await maps.verify()
        #expect(findings.map(\.item) == [.package("EE")] && findings[0].problem.contains("SHA-256"), "\(findings)")
        #expect(try await store.verify(deep: false).map(\.problem) == ["A read has found that it is damaged."])
        #expect(try store.shows("EE 1", map))
        try await download(maps)
        #expect(try Data(contentsOf: file) == whole && site.sent(path) == 2 * whole.count)
        #expect(try await maps.verify().isEmpty)
    }

    @Test func whatCanBeReadIsReadWithoutANetwork() async throws {
        let maps = try await installed()
        let (store, file) = (maps.store, try await file(maps))
        try breakTile(try #require(map.tiles.last), of: file)
        await store.forceOffline(true)
        #expect(try await maps.verify().count == 1)
        let offline = await #expect(throws: StoreError.self) { try await store.repair() }
        #expect(offline?.failure == .connection)
        #expect(try store.shows("EE 1", map))
        var states: [TaskState] = []
        for try await progress in maps.download("EE") {
            states.append(progress.state)
            if case .waiting(.network) = progress.state { break }
        }
        #expect(states.last == .waiting(.network))
        #expect(try store.shows("EE 1", map) && FileManager.default.fileExists(atPath: file.path))
    }

    @Test func aRepairKeepsTheOldFileUntilTheNewOneIsWhole() async throws {
        let maps = try await installed()
        let (store, file) = (maps.store, try await file(maps))
        let whole = try breakTile(try #require(map.tiles.last), of: file)
        site.stall(path, at: whole.count / 2)
        let findings = try await store.repair()
        let task = try #require(findings.first?.task)
        #expect(findings.map(\.isMended) == [true])
        try await Eventually.holds("the first half") {
            StoreScan.parts(site.scratch.folder).values.contains(UInt64(whole.count / 2))
        }
        #expect(try store.shows("EE 1", map) && FileManager.default.fileExists(atPath: file.path))
        // Wrong bytes never take its place.
        await store.suspend()
        site.stall(path, at: nil)
        site.serve([UInt8](repeating: 9, count: whole.count), at: path)
        let next = try await MapStore(alone: try site.options())
        let events = next.events
        try await next.start()
        #expect(await next.end(of: task, in: events) == .failed(.badBytes))
        #expect(try next.shows("EE 1", map) && FileManager.default.fileExists(atPath: file.path))
        // With the right ones the task goes on.
        site.serve([UInt8](whole), at: path)
        let last = next.events
        try await next.retry(task)
        #expect(await next.end(of: task, in: last) == .done)
        #expect(try Data(contentsOf: file) == whole && next.shows("EE 1", map))
        #expect(try await next.verify(deep: true).isEmpty)
        try await Eventually.holds("the sums are those of the disk") { try await next.agreesWithTheDisk() }
    }

    @Test func whatTheCatalogNoLongerHasStays() async throws {
        let maps = try await installed()
        let (store, file) = (maps.store, try await file(maps))
        try breakTile(try #require(map.tiles.last), of: file)
        site.drop("EE")
        try site.publish()
        let findings = try await store.repair()
        #expect(findings.count == 1 && !findings[0].isMended && findings[0].problem.contains("stays"), "\(findings)")
        #expect(try store.shows("EE 1", map))
        #expect(try await store.status(of: .package("EE"))?.isDamaged == true)
        #expect(try await store.states { try await $0.remove([.package("EE")]) } == [.done])
        // Files go after the task has ended.
        try await Eventually.holds("the file is removed") { !FileManager.default.fileExists(atPath: file.path) }
        try await Eventually.holds("the sums are those of the disk") { try await store.agreesWithTheDisk() }
    }

    /// A process can end between the arrival of the new file and its row.
    @Test func aFileThatIsWholeAfterAllIsNotDownloaded() async throws {
        let maps = try await installed()
        let file = try await file(maps)
        let whole = try breakTile(try #require(map.tiles.last), of: file)
        #expect(try await maps.verify().count == 1)
        await maps.store.suspend()
        try whole.write(to: file, options: .atomic)
        let again = OfflineMaps(try await site.store())
        #expect(try await again.store.status(of: .package("EE"))?.isDamaged == true)
        try await download(again)
        #expect(site.sent(path) == whole.count)
        #expect(try await again.store.status(of: .package("EE"))?.isDamaged == false)
    }

    @Test(arguments: [true, false])
    func aKeptVersionTakesItsPlaceWhenItIsWhole(isWhole: Bool) async throws {
        let maps = try await installed { $0.quota.previousVersions = 1 }
        let (store, first) = (maps.store, try await file(maps))
        _ = try site.add("EE", version: 2, depth: 4)
        try site.publish()
        try await store.refreshCatalog(ifOlderThan: .zero)
        #expect(try await store.states { try await $0.update([.package("EE")]) } == [.done])
        let second = try await file(maps)
        await store.suspend()
        if !isWhole { try overwrite(first, at: 9_000, 10) }
        try overwrite(second, at: 0, 100)
        let again = try await site.store()
        #expect(throws: StoreError.self) { try again.tiles.tile(map.cell) }
        if isWhole {
            try await Eventually.holds("the version before") {
                try await again.installed().first { $0.item == .package("EE") }?.version == 1
            }
            #expect(try again.shows("EE 1", map))
            #expect(try await again.status(of: .package("EE"))?.isDamaged == false)
        } else {
            #expect(try await again.status(of: .package("EE"))?.isDamaged == true)
            let findings = try await again.states { try await $0.repair().compactMap(\.task) }
            #expect(findings == [.done])
            #expect(try again.shows("EE 2", map))
            #expect(!FileManager.default.fileExists(atPath: first.path))
        }
        #expect(try await again.verify(deep: true).isEmpty)
        #expect(try await again.agreesWithTheDisk())
    }

    @Test func aDamagedStyleIsNamedAndDownloadedAgain() async throws {
        let maps = try await installed()
        let store = maps.store
        let style = try #require(try await store.url(of: .style("streets")))
        await store.suspend()
        try FileManager.default.removeItem(at: style.deletingLastPathComponent().appending(path: "pack"))
        try overwrite(style, at: 0, 200)
        let again = OfflineMaps(try await site.store())
        try await Eventually.holds("the damaged style") {
            try await again.store.status(of: .style("streets"))?.isDamaged == true
        }
        let error = #expect(throws: StoreError.self) { try again.style("streets", for: "EE") }
        #expect(error?.code == .damaged && error?.advice?.contains("repair") == true, "\(error as Any)")
        #expect(try again.store.shows("EE 1", map))
        try await download(again)
        #expect(try again.style("streets", for: "EE").count > 100)
    }

    /// A process that only reads tells the one that works.
    @Test func aReaderOfAnotherProcessReportsDamage() async throws {
        let maps = try await installed()
        let (worker, file) = (maps.store, try await file(maps))
        let reader = try await MapStore(alone: try site.options())
        #expect(reader.role == .reader)
        let broken = try #require(map.tiles.last)
        try breakTile(broken, of: file)
        let error = #expect(throws: StoreError.self) {
            guard case .found(let tile) = try reader.tiles.tile(broken) else { return }
            _ = try tile.uncompressed()
        }
        #expect(error?.code == .damaged)
        for store in [worker, reader] {
            try await Eventually.holds("the damage") { try await store.status(of: .package("EE"))?.isDamaged == true }
        }
        try await download(maps)
        try await Eventually.holds("the mended map") { try await reader.status(of: .package("EE"))?.isDamaged == false }
        guard case .found(let tile) = try reader.tiles.tile(broken) else { throw StoreError(.notFound, "no tile") }
        #expect(try tile.uncompressed().count > 20)
    }
}
