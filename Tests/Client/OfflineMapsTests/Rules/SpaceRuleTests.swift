import Testing

@testable import OfflineMaps

/// Quota, eviction, limits, previous versions.
@Suite struct SpaceRuleTests {
    let region = Item.region("r")

    private func file(
        _ name: String, _ version: Int32 = 1, isPack: Bool = true, _ state: InstalledFile.State = .current,
        expires: Int64? = nil, usedAt: Int64 = 0, order: Int64 = 0
    ) -> InstalledFile {
        InstalledFile(
            download(name, version: version, isPack: isPack).file, state, expires: expires, usedAt: usedAt, order: order
        )
    }

    private func rows(_ files: [InstalledFile], held: [String] = []) -> StoreRows {
        var rows = StoreRows()
        for file in files { rows.files[file.id] = file }
        for name in held { rows.holds.insert(Hold(key: InstalledFileKey(name: name, isPack: true), item: region)) }
        return rows
    }

    @Test func evictionTakesPreviousVersionsThenTheNearestExpiryThenTheLeastUsed() {
        let files = [
            file("held", expires: 0), file("late", expires: 9), file("soon", expires: 1),
            file("used", expires: 5, usedAt: 2), file("unused", expires: 5, usedAt: 1),
            file("p", 1, isPack: false, .previous), file("p", 2, isPack: false),
        ]
        for (count, expected) in [(1, ["p-1"]), (2, ["p-1", "soon-1"]), (4, ["p-1", "soon-1", "unused-1", "used-1"])] {
            var driver = RuleDriver(rows(files, held: ["held"]))
            driver.machine.evict(UInt64(count) * 1_000)
            let gone = files.filter { driver.machine.rows.files[$0.id] == nil }.map(\.sha256).sorted()
            #expect(gone == expected.sorted())
        }
        var driver = RuleDriver(rows(files, held: ["held"]))
        driver.machine.evict(1 << 40)
        #expect(driver.machine.rows.files.keys.map(\.digest).sorted() == ["held-1", "p-2"])
    }

    @Test func evictionBeginsAtHalfOfTheQuota() {
        var rows = rows((0..<4).map { file("v\($0)", expires: Int64($0)) })
        rows.settings.quota.bytes = 10_000
        var driver = RuleDriver(rows)
        // 4,000 and 2,000 are 1,000 above the half: one pack goes.
        let (_, effects) = driver.add(.load, [region], Plan(downloads: [download("new", size: 2_000, holder: region)]))
        #expect(effects.discards == [.file(download("v0", isPack: true).file)])
        #expect(effects.fetches.count == 1)
    }

    @Test func aSmallerQuotaRemovesWhatMayGoAtOnce() {
        let files = [file("held"), file("soon", expires: 1), file("late", expires: 2)]
        var driver = RuleDriver(rows(files, held: ["held"]))
        var quota = Quota()
        (quota.bytes, quota.evictFrom) = (2_000, 1)
        let effects = driver.send(.asked(RequestID(number: 1), .setQuota(quota)))
        #expect(effects.discards == [.file(download("soon", isPack: true).file)])
    }

    @Test func aTaskThatExceedsTheQuotaIsPausedUntilThereIsSpace() {
        var rows = rows([file("held")], held: ["held"])
        rows.settings.quota.bytes = 2_500
        var driver = RuleDriver(rows)
        let other = Item.region("other")
        let (task, effects) = driver.add(.load, [other], Plan(downloads: [download("new", size: 2_000, holder: other)]))
        #expect(effects.fetches.isEmpty)
        #expect(driver.state(task) == .paused(.quota(needed: 3_000, allowed: 2_500)))
        #expect(effects.limits == [.quota(needed: 3_000, allowed: 2_500)])
        let removed = driver.add(.remove, [region]).effects
        #expect(removed.discards == [.file(download("held", isPack: true).file)])
        #expect(driver.send(.gone(removed.discards[0])).fetches.count == 1)
    }

    @Test func theQuotaCountsTheFilesOfAStyleFromItsFirstByte() throws {
        let item = Item.style("streets")
        for (quota, isPaused) in [(1_999, true), (2_000, false)] as [(UInt64, Bool)] {
            var rows = StoreRows()
            rows.settings.quota.bytes = quota
            var driver = RuleDriver(rows)
            var style = download("s", holder: item)
            style.copies = 1
            let (task, effects) = driver.add(.install, [item], Plan(downloads: [style]))
            #expect(effects.fetches.isEmpty == isPaused)
            guard let op = effects.fetches.first else {
                #expect(driver.state(task) == .paused(.quota(needed: 2_000, allowed: quota)))
                continue
            }
            driver.send(.received(op, size: 400))
            #expect(driver.machine.used == 400 && driver.machine.inFlight == 1_600)
            driver.send(.received(op, size: 1_000))
            let verify = try #require(driver.send(.fetched(op)).verifies.first)
            let prepare = try #require(driver.send(.verified(verify)).prepares.first)
            #expect(driver.machine.used == 1_000 && driver.machine.inFlight == 1_000)
            driver.send(.prepared(prepare, style.file, bytes: 1_900))
            #expect(driver.machine.used == 1_900 && driver.machine.inFlight == 0)
            #expect(driver.machine.rows.files[style.file]?.bytes == 1_900)
        }
    }

    @Test func morePacksThanAllowedAreRefusedBeforeARequest() {
        var rows = rows((0..<750).map { file("k\($0)") }, held: (0..<750).map { "k\($0)" })
        rows.settings.quota = Quota()
        var driver = RuleDriver(rows)
        let shared = driver.add(
            .load, [.region("a")], Plan(downloads: [download("k1", isPack: true, holder: .region("a"))]))
        #expect(driver.machine.rows.tasks[shared.task] == nil)
        let (task, effects) = driver.add(
            .load, [.region("b")], Plan(downloads: [download("new", isPack: true, holder: .region("b"))]))
        #expect(driver.state(task) == .failed(.tooManyPacks))
        #expect(effects.limits == [.tilePacks(needed: 751, allowed: 750)])
        #expect(effects.fetches.isEmpty)
    }

    @Test func moreSingleTilesThanAllowedAreRefusedBeforeARequest() {
        var rows = StoreRows()
        rows.tiles = [.region("a"): 5_000]
        var driver = RuleDriver(rows)
        let (task, effects) = driver.add(.load, [region], Plan(downloads: [], onlineTiles: 1_001))
        #expect(driver.state(task) == .failed(.tooManyTiles))
        #expect(effects.limits == [.onlineTiles(needed: 6_001, allowed: 6_000)])
    }

    @Test func aSharedPackGoesWithItsLastHolder() {
        var rows = rows([file("k")], held: ["k"])
        rows.holds.insert(Hold(key: InstalledFileKey(name: "k", isPack: true), item: .region("b")))
        var driver = RuleDriver(rows)
        #expect(driver.add(.remove, [region]).effects.discards.isEmpty)
        #expect(driver.add(.remove, [.region("b")]).effects.discards == [.file(download("k", isPack: true).file)])
    }

    @Test func aSmallerNumberOfVersionsRemovesTheOthers() {
        var rows = rows([file("p", 1, isPack: false, .previous, order: 1), file("p", 2, isPack: false, order: 2)])
        rows.settings.quota.previousVersions = 1
        var driver = RuleDriver(rows)
        let effects = driver.send(.asked(RequestID(number: 1), .setQuota(Quota())))
        #expect(effects.discards == [.file(download("p", version: 1).file)])
        #expect(driver.machine.rows.files.values.map(\.version) == [2])
    }

    @Test func aRollbackEndsAPendingUpdate() {
        let package = Item.package("p")
        var rows = rows([file("p", 1, isPack: false, .previous, order: 1), file("p", 2, isPack: false, order: 2)])
        rows.holds = [Hold(key: InstalledFileKey(name: "p", isPack: false), item: package)]
        var driver = RuleDriver(rows)
        let update = driver.add(.update, [package], Plan(downloads: [download("p", version: 3, holder: package)]))
        #expect(driver.add(.rollback, [package]).effects.stops == update.effects.fetches)
        #expect(driver.machine.rows.tasks.isEmpty)
        #expect(driver.machine.rows.current(InstalledFileKey(name: "p", isPack: false))?.version == 1)
    }

    @Test func rollbackGoesToTheNewestVersionThatWasKept() {
        var rows = rows([
            file("p", 1, isPack: false, .previous, order: 1), file("p", 2, isPack: false, .previous, order: 2),
            file("p", 3, isPack: false, order: 3),
        ])
        rows.holds = [Hold(key: InstalledFileKey(name: "p", isPack: false), item: .package("p"))]
        var driver = RuleDriver(rows)
        driver.add(.rollback, [.package("p")])
        #expect(driver.machine.rows.current(InstalledFileKey(name: "p", isPack: false))?.version == 2)
        #expect(driver.machine.rows.files.count == 3)
    }

    @Test func aUnitThatCannotBeReadGoesBackByItself() {
        var rows = rows([
            file("p", 1, isPack: false, .previous, order: 1), file("p", 2, isPack: false, order: 2),
        ])
        rows.holds = [Hold(key: InstalledFileKey(name: "p", isPack: false), item: .package("p"))]
        var driver = RuleDriver(rows)
        let id = download("p", version: 2).file
        let effects = driver.send(.damaged(id))
        #expect(driver.machine.rows.readable(id.key)?.id == id)
        #expect(driver.send(.givesWay(id)).discards == [.file(id)])
        #expect(driver.machine.rows.files.values.map(\.version) == [1])
        #expect(driver.machine.rows.current(InstalledFileKey(name: "p", isPack: false)) != nil)
        #expect(effects.contains { if case .report(.damaged(.package("p", _, _))) = $0 { true } else { false } })
    }
}
