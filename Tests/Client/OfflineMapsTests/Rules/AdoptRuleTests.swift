import Testing

@testable import OfflineMaps

/// Files that become current without a download.
@Suite struct AdoptRuleTests {
    let item = Item.package("p")

    private func adopted(_ name: String, version: Int32, bytes: UInt64 = 1_000, isPack: Bool = false) -> AdoptedFile {
        AdoptedFile(
            file: InstalledFile(download(name, version: version, isPack: isPack).file, bytes: bytes),
            holder: .package(name))
    }

    private func answers(_ effects: [Effect]) -> [Answer] {
        effects.compactMap { if case .answer(_, let answer) = $0 { answer } else { nil } }
    }

    private func ask(_ driver: inout RuleDriver, _ files: [AdoptedFile]) -> [Effect] {
        driver.send(.asked(RequestID(number: 77), .adopt(files)))
    }

    @Test func severalFilesBecomeCurrentInOneWriteAndReplaceWhatIsInstalled() throws {
        var rows = StoreRows()
        let old = InstalledFile(download("p").file, bytes: 500)
        rows.files[old.id] = old
        var driver = RuleDriver(rows)
        let files = [adopted("p", version: 2), adopted("q", version: 1)]
        let effects = ask(&driver, files)
        #expect(answers(effects) == [.done])
        #expect(effects.discards == [.file(old.id)])
        let write = try #require(driver.writes.last)
        for file in files {
            #expect(driver.machine.rows.files[file.file.id]?.state == .current)
            #expect(write.contains(.hold(Hold(key: file.file.id.key, item: file.holder))))
        }
        #expect(driver.machine.rows.files.count == 2)
    }

    @Test func theQuotaRefusesThemAllAndTheirFilesGo() {
        var rows = StoreRows()
        rows.settings.quota.bytes = 1_500
        var driver = RuleDriver(rows)
        let files = [adopted("p", version: 2), adopted("q", version: 1)]
        let effects = ask(&driver, files)
        #expect(answers(effects) == [.limited(.quota(needed: 2_000, allowed: 1_500))])
        #expect(Set(effects.discards) == Set(files.map { .file($0.file.id) }))
        #expect(driver.machine.rows.files.isEmpty)
    }

    /// The copy is at the place of the damaged file before the quota is asked: removing it would remove the map.
    @Test func aCopyOfADamagedFileTakesItsPlaceAlsoWhenTheQuotaRefusesTheOthers() {
        var rows = StoreRows()
        let damaged = InstalledFile(download("p", version: 2).file, .damaged)
        rows.apply(.file(damaged))
        rows.holds = [Hold(key: damaged.id.key, item: item)]
        rows.settings.quota.bytes = 1_500
        var driver = RuleDriver(rows)
        let files = [adopted("p", version: 2), adopted("q", version: 1)]
        let effects = ask(&driver, files)
        #expect(answers(effects) == [.limited(.quota(needed: 2_000, allowed: 1_500))])
        #expect(effects.discards == [.file(files[1].file.id)])
        #expect(driver.machine.rows.current(damaged.id.key)?.id == damaged.id && driver.machine.rows.faulty.isEmpty)
        // Alone it needs no space.
        driver.send(.gone(.file(files[1].file.id)))
        driver.send(.damaged(damaged.id))
        #expect(answers(ask(&driver, [files[0]])) == [.done])
        #expect(driver.machine.rows.current(damaged.id.key)?.id == damaged.id && driver.machine.used == 1_000)
    }

    @Test func theLimitOfPacksRefuses() {
        var rows = StoreRows()
        rows.settings.quota.tilePacks = 0
        var driver = RuleDriver(rows)
        let effects = ask(&driver, [adopted("k", version: 1, isPack: true)])
        #expect(answers(effects) == [.limited(.tilePacks(needed: 1, allowed: 0))])
    }

    @Test func itEndsTheDownloadOfTheItem() {
        var driver = RuleDriver()
        let (task, effects) = driver.add(.install, [item], Plan(downloads: [download("p", version: 2, holder: item)]))
        let adopting = ask(&driver, [adopted("p", version: 2)])
        #expect(adopting.stops == effects.fetches)
        #expect(driver.machine.rows.tasks[task] == nil)
        #expect(driver.machine.rows.current(InstalledFileKey(name: "p", isPack: false))?.version == 2)
    }

    @Test func aFileThatIsBeingRemovedIsNotTaken() {
        var rows = StoreRows()
        rows.files[download("p").file] = InstalledFile(download("p").file)
        rows.holds = [Hold(key: download("p").file.key, item: item)]
        var driver = RuleDriver(rows)
        #expect(driver.add(.remove, [item]).effects.discards == [.file(download("p").file)])
        #expect(answers(ask(&driver, [adopted("p", version: 1)])) == [.busy])
        driver.send(.gone(.file(download("p").file)))
        #expect(answers(ask(&driver, [adopted("p", version: 1)])) == [.done])
    }

    @Test func aRequestThatWaitedInTheDatabaseFindsItsFile() {
        var machine = StoreMachine(StoreRows(), seed: 1)
        let file = adopted("p", version: 1)
        let start = Instant(milliseconds: 0)
        let opened = machine.handle(.opened(parts: [:], prepared: [file.file], free: 1 << 40), now: start)
        #expect(opened.discards.isEmpty)
        _ = machine.handle(.asked(RequestID(number: 1), .adopt([file])), now: start)
        #expect(machine.handle(.start, now: start).discards.isEmpty)
        #expect(machine.rows.files[file.file.id]?.state == .current)
    }
}
