import Testing

@testable import OfflineMaps

/// What the rules do with files whose bytes are wrong.
struct DamageRuleTests {
    private let key = InstalledFileKey(name: "p", isPack: false)
    private let item = Item.package("p")
    private let id = download("p").file

    private func file(_ version: Int32, _ state: InstalledFile.State = .current) -> InstalledFile {
        InstalledFile(download("p", version: version).file, state, order: Int64(version))
    }

    private func driver(_ files: [InstalledFile], isHeld: Bool = true) -> RuleDriver {
        var rows = StoreRows()
        for file in files { rows.apply(.file(file)) }
        rows.settings.quota.previousVersions = 1
        if isHeld { rows.holds = [Hold(key: key, item: item)] }
        return RuleDriver(rows)
    }

    private var plan: Plan { Plan(downloads: [download("p", holder: item)]) }

    @Test func aDamagedFileStaysAndIsDownloadedAgain() throws {
        var driver = driver([file(1)])
        let found = driver.send(.damaged(id))
        #expect(found.discards.isEmpty && driver.machine.rows.files.isEmpty)
        #expect(driver.machine.rows.readable(key)?.id == id && driver.machine.used == 1_000)
        let fetch = try #require(driver.add(.install, [item], plan).effects.fetches.first)
        driver.send(.received(fetch, size: 1_000))
        let verify = try #require(driver.send(.fetched(fetch)).verifies.first)
        let prepare = try #require(driver.send(.verified(verify)).prepares.first)
        // Both are on the disk until the new one takes the name.
        #expect(driver.machine.used == 2_000 && driver.machine.rows.current(key) == nil)
        let end = driver.send(.prepared(prepare, id, bytes: 1_000))
        #expect(driver.machine.rows.current(key)?.id == id && driver.machine.rows.faulty.isEmpty)
        #expect(!end.discards.contains(.file(id)) && driver.machine.used == 1_000)
        #expect(driver.machine.rows.tasks.isEmpty)
    }

    /// What has taken the place of the damaged file is current, also when the task ended meanwhile.
    @Test func aCancelledTaskLeavesTheFileThatHasArrived() throws {
        var driver = driver([file(1)])
        driver.send(.damaged(id))
        let added = driver.add(.install, [item], plan)
        let fetch = try #require(added.effects.fetches.first)
        driver.send(.received(fetch, size: 1_000))
        let verify = try #require(driver.send(.fetched(fetch)).verifies.first)
        let prepare = try #require(driver.send(.verified(verify)).prepares.first)
        driver.send(.asked(RequestID(number: 99), .cancel(added.task)))
        let end = driver.send(.prepared(prepare, id, bytes: 1_000))
        #expect(driver.machine.rows.current(key)?.id == id && !end.discards.contains(.file(id)))
    }

    @Test func aNewVersionTakesThePlaceOfADamagedOne() {
        var driver = driver([file(1)])
        driver.send(.damaged(id))
        let new = download("p", version: 2, holder: item)
        let added = driver.add(.update, [item], Plan(downloads: [new]))
        for fetch in added.effects.fetches {
            driver.send(.received(fetch, size: 1_000))
            for verify in driver.send(.fetched(fetch)).verifies {
                for prepare in driver.send(.verified(verify)).prepares {
                    let end = driver.send(.prepared(prepare, new.file, bytes: 1_000))
                    #expect(end.discards.contains(.file(id)))
                }
            }
        }
        // A damaged version is not kept.
        #expect(driver.machine.rows.files.values.map(\.version) == [2] && driver.machine.rows.faulty.isEmpty)
    }

    @Test func aDamagedVersionGivesWayToAWholeOneAlone() {
        var driver = driver([file(1, .previous), file(2)])
        let second = download("p", version: 2).file
        driver.send(.damaged(second))
        #expect(driver.machine.rows.readable(key)?.id == second)
        let effects = driver.send(.givesWay(second))
        #expect(effects.discards == [.file(second)] && driver.machine.rows.current(key)?.version == 1)
        // There is no other: it stays.
        driver.send(.damaged(id))
        #expect(driver.send(.givesWay(id)).discards.isEmpty && driver.machine.rows.readable(key)?.id == id)
    }

    @Test func aRollbackLeavesADamagedVersionBehind() {
        var driver = driver([file(1, .previous), file(2)])
        driver.send(.damaged(download("p", version: 2).file))
        driver.add(.rollback, [item])
        #expect(driver.machine.rows.current(key)?.version == 1 && driver.machine.rows.faulty.isEmpty)
        #expect(driver.machine.rows.files.count == 1)
    }

    @Test func aDamagedFileGoesWithItsItem() {
        var driver = driver([file(1)])
        driver.send(.damaged(id))
        let effects = driver.add(.remove, [item]).effects
        #expect(effects.discards == [.file(id)] && driver.machine.rows.faulty.isEmpty)
    }

    @Test func aFileThatIsWholeAfterAllIsCurrentAgain() {
        var driver = driver([file(1)])
        driver.send(.damaged(id))
        let effects = driver.send(.returned(id))
        #expect(driver.machine.rows.current(key)?.id == id && effects.discards.isEmpty)
    }

    @Test func whatNobodyNeedsIsRemoved() {
        var driver = driver([file(1)], isHeld: false)
        #expect(driver.send(.damaged(id)).discards == [.file(id)])
        #expect(driver.machine.rows.faulty.isEmpty && driver.machine.rows.files.isEmpty)
    }

    @Test func aKeptVersionThatIsDamagedGoes() {
        var driver = driver([file(1, .previous), file(2)])
        #expect(driver.send(.damaged(id)).discards.isEmpty)
        #expect(driver.send(.givesWay(id)).discards == [.file(id)])
        #expect(driver.machine.rows.current(key)?.version == 2)
    }
}
