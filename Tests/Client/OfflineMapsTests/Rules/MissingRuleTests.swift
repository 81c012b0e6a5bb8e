import Testing

@testable import OfflineMaps

/// What the rules do with files that are not at their places.
struct MissingRuleTests {
    private let key = InstalledFileKey(name: "p", isPack: false)
    private let item = Item.package("p")

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

    @Test func aLostFileStaysKnownUntilItIsBack() {
        var driver = driver([file(1)])
        let id = download("p").file
        driver.send(.lost(id))
        #expect(driver.machine.rows.files.isEmpty && driver.machine.rows.faulty.keys.contains(id))
        #expect(driver.machine.rows.holds.count == 1)
        driver.send(.returned(id))
        #expect(driver.machine.rows.current(key)?.id == id && driver.machine.rows.missing.isEmpty)
    }

    @Test func aLostFileGivesWayToAnEarlierVersionAndComesBack() {
        var driver = driver([file(1, .previous), file(2)])
        let id = download("p", version: 2).file
        driver.send(.lost(id))
        #expect(driver.machine.rows.current(key)?.version == 1 && driver.machine.rows.missing.count == 1)
        driver.send(.returned(id))
        #expect(driver.machine.rows.current(key)?.version == 2 && driver.machine.rows.missing.isEmpty)
        driver.send(.lost(id))
        // A repair lets it go, because there is another version.
        driver.send(.givesWay(id))
        #expect(driver.machine.rows.current(key)?.version == 1 && driver.machine.rows.missing.isEmpty)
    }

    @Test func aMissingFileGoesWithItsItem() {
        var driver = driver([file(1)])
        driver.send(.lost(download("p").file))
        driver.add(.remove, [item])
        #expect(driver.machine.rows.missing.isEmpty && driver.machine.rows.holds.isEmpty)
    }

    @Test func whatNobodyNeedsIsForgotten() {
        var driver = driver([file(1)], isHeld: false)
        driver.send(.lost(download("p").file))
        #expect(driver.machine.rows.missing.isEmpty && driver.machine.rows.files.isEmpty)
    }
}
