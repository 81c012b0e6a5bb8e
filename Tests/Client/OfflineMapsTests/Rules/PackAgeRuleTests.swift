import Testing

@testable import OfflineMaps

/// One pack in several states, which lists of several packages have.
@Suite struct PackAgeRuleTests {
    private let key = InstalledFileKey(name: "k", isPack: true)

    /// The pack as the list of a package has it, for a region.
    private func pack(_ date: String, of package: String, for region: RegionID) -> DownloadItem {
        var download = download("k", isPack: true, holder: .region(region))
        download.file.version = 0
        download.file.digest = "\(package) \(date)"
        download.age = PackAge(date: date, source: .packs(package))
        return download
    }

    /// Does what the effects ask for until nothing more is to be done.
    private func finish(_ effects: [Effect], _ driver: inout RuleDriver) -> Int {
        var (effects, done, fetches) = (effects, 0, 0)
        while done < effects.count, fetches < 10 {
            switch effects[done] {
            case .fetch(let op, let download, _, _, _):
                fetches += 1
                effects += driver.send(.received(op, size: download.size))
                effects += driver.send(.fetched(op))
            case .verify(let op, _): effects += driver.send(.verified(op))
            case .prepare(let op, let download):
                effects += driver.send(.prepared(op, download.file, bytes: download.size))
            case .discard(let trash, path: _): effects += driver.send(.gone(trash))
            default: break
            }
            done += 1
        }
        return fetches
    }

    private func load(_ downloads: [DownloadItem], _ driver: inout RuleDriver) -> Int {
        let items = downloads.compactMap(\.holder)
        let fetches = finish(driver.add(.update, items, Plan(downloads: downloads)).effects, &driver)
        #expect(driver.machine.rows.tasks.isEmpty)
        return fetches
    }

    @Test func theNewestPackThatAHolderAcceptedStays() {
        var driver = RuleDriver()
        #expect(load([pack("2026-11-01", of: "A", for: "a")], &driver) == 1)
        #expect(load([pack("2026-11-02", of: "B", for: "b")], &driver) == 1)
        for _ in 0..<2 {
            #expect(load([pack("2026-11-01", of: "A", for: "a")], &driver) == 0)
            #expect(load([pack("2026-11-02", of: "B", for: "b")], &driver) == 0)
            #expect(driver.machine.rows.current(key)?.sha256 == "B 2026-11-02")
        }
        #expect(driver.machine.rows.holders(of: key).count == 2)
        // The list of A is cut again.
        #expect(load([pack("2026-11-03", of: "A", for: "a")], &driver) == 1)
        #expect(load([pack("2026-11-02", of: "B", for: "b")], &driver) == 0)
        #expect(driver.machine.rows.current(key)?.sha256 == "A 2026-11-03")
        #expect(driver.machine.parts.isEmpty && driver.machine.preparedFiles.isEmpty)
    }

    /// Its age is that of the list that has brought it again: an older pack of another list does not take its place.
    @Test func aDamagedPackThatWasDownloadedAgainKeepsItsAge() throws {
        var driver = RuleDriver()
        var new = pack("2026-11-02", of: "B", for: "b")
        new.expires = 900
        #expect(load([pack("2026-11-01", of: "A", for: "a")], &driver) == 1)
        #expect(load([new], &driver) == 1)
        driver.send(.damaged(new.file))
        #expect(load([new], &driver) == 1)
        let current = try #require(driver.machine.rows.current(key))
        #expect(current.id == new.file && current.age == new.age && current.expires == 900)
        #expect(load([pack("2026-11-01", of: "A", for: "a")], &driver) == 0)
        #expect(driver.machine.rows.current(key)?.id == new.file)
    }

    @Test func listsWithoutDatesDoNotReplaceEachOthersPacks() {
        var driver = RuleDriver()
        var fetches = 0
        for _ in 0..<3 {
            fetches += load([pack("", of: "B", for: "b")], &driver)
            fetches += load([pack("", of: "A", for: "a")], &driver)
        }
        #expect(fetches == 2)
        #expect(driver.machine.rows.current(key)?.sha256 == "A ")
        // Whoever holds it alone follows its own list.
        driver.add(.remove, [.region("a")])
        #expect(load([pack("", of: "B", for: "b")], &driver) == 1)
    }

    @Test func oneTaskForBothHoldersEnds() {
        var driver = RuleDriver()
        let fetches = load([pack("1", of: "A", for: "a"), pack("2", of: "B", for: "b")], &driver)
        #expect(fetches <= 2)
        #expect(driver.machine.rows.current(key)?.sha256 == "B 2")
        #expect(driver.machine.rows.holders(of: key).count == 2)
    }

    @Test func anOlderPackThatIsUnderWayDoesNotReplaceANewerOne() throws {
        var driver = RuleDriver()
        let old = driver.add(.load, [.region("a")], Plan(downloads: [pack("1", of: "A", for: "a")]))
        let new = driver.add(.load, [.region("b")], Plan(downloads: [pack("2", of: "B", for: "b")]))
        #expect(finish(new.effects, &driver) == 1)
        // The download of the older one is not needed any more.
        #expect(driver.state(old.task) == nil)
        #expect(driver.machine.rows.current(key)?.sha256 == "B 2")
        #expect(driver.machine.rows.holders(of: key).count == 2)
    }

    @Test func whatTheServerConfirmsExpiresLater() {
        var driver = RuleDriver()
        var download = pack("1", of: "A", for: "a")
        download.expires = 10
        #expect(load([download], &driver) == 1)
        download.expires = 500
        (download.age, download.holder) = (PackAge(date: "2", source: .packs("B")), .region("b"))
        let writes = driver.writes.count
        #expect(load([download], &driver) == 0)
        let current = driver.machine.rows.current(key)
        #expect(current?.expires == 500 && current?.age?.date == "2" && current?.age?.source == .packs("B"))
        #expect(
            driver.writes[writes...].joined().contains {
                if case .file(let file) = $0 { file.expires == 500 } else { false }
            })
        // An earlier time changes nothing.
        download.expires = 20
        #expect(load([download], &driver) == 0)
        #expect(driver.machine.rows.current(key)?.expires == 500)
    }
}
