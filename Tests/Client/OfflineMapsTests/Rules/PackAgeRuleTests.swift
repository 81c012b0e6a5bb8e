import Testing

@testable import OfflineMaps

/// One pack in several states, which lists of several packages have.
@Suite struct PackAgeRuleTests {
    private let unit = UnitKey(name: "k", isPack: true)

    /// The pack as the list of a package has it, for a region.
    private func pack(_ date: String, of package: String, for region: RegionID) -> Piece {
        var piece = piece("k", isPack: true, holder: .region(region))
        piece.file.version = 0
        piece.file.digest = "\(package) \(date)"
        piece.age = PackAge(date: date, source: .packs(package))
        return piece
    }

    /// Does what the effects ask for until nothing more is to be done.
    private func finish(_ effects: [Effect], _ driver: inout RuleDriver) -> Int {
        var (effects, done, fetches) = (effects, 0, 0)
        while done < effects.count, fetches < 10 {
            switch effects[done] {
            case .fetch(let op, let piece, _, _, _):
                fetches += 1
                effects += driver.send(.received(op, size: piece.size))
                effects += driver.send(.fetched(op))
            case .verify(let op, _): effects += driver.send(.verified(op))
            case .prepare(let op, let piece): effects += driver.send(.prepared(op, piece.file, bytes: piece.size))
            case .discard(let trash, path: _): effects += driver.send(.gone(trash))
            default: break
            }
            done += 1
        }
        return fetches
    }

    private func load(_ pieces: [Piece], _ driver: inout RuleDriver) -> Int {
        let items = pieces.compactMap(\.holder)
        let fetches = finish(driver.add(.update, items, Plan(pieces: pieces)).effects, &driver)
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
            #expect(driver.machine.rows.current(unit)?.sha256 == "B 2026-11-02")
        }
        #expect(driver.machine.rows.holders(of: unit).count == 2)
        // The list of A is cut again.
        #expect(load([pack("2026-11-03", of: "A", for: "a")], &driver) == 1)
        #expect(load([pack("2026-11-02", of: "B", for: "b")], &driver) == 0)
        #expect(driver.machine.rows.current(unit)?.sha256 == "A 2026-11-03")
        #expect(driver.machine.parts.isEmpty && driver.machine.preparedFiles.isEmpty)
    }

    @Test func listsWithoutDatesDoNotReplaceEachOthersPacks() {
        var driver = RuleDriver()
        var fetches = 0
        for _ in 0..<3 {
            fetches += load([pack("", of: "B", for: "b")], &driver)
            fetches += load([pack("", of: "A", for: "a")], &driver)
        }
        #expect(fetches == 2)
        #expect(driver.machine.rows.current(unit)?.sha256 == "A ")
        // Whoever holds it alone follows its own list.
        driver.add(.remove, [.region("a")])
        #expect(load([pack("", of: "B", for: "b")], &driver) == 1)
    }

    @Test func oneTaskForBothHoldersEnds() {
        var driver = RuleDriver()
        let fetches = load([pack("1", of: "A", for: "a"), pack("2", of: "B", for: "b")], &driver)
        #expect(fetches <= 2)
        #expect(driver.machine.rows.current(unit)?.sha256 == "B 2")
        #expect(driver.machine.rows.holders(of: unit).count == 2)
    }

    @Test func anOlderPackThatIsUnderWayDoesNotReplaceANewerOne() throws {
        var driver = RuleDriver()
        let old = driver.add(.load, [.region("a")], Plan(pieces: [pack("1", of: "A", for: "a")]))
        let new = driver.add(.load, [.region("b")], Plan(pieces: [pack("2", of: "B", for: "b")]))
        #expect(finish(new.effects, &driver) == 1)
        // The download of the older one is not needed any more.
        #expect(driver.state(old.task) == nil)
        #expect(driver.machine.rows.current(unit)?.sha256 == "B 2")
        #expect(driver.machine.rows.holders(of: unit).count == 2)
    }

    @Test func whatTheServerConfirmsExpiresLater() {
        var driver = RuleDriver()
        var piece = pack("1", of: "A", for: "a")
        piece.expires = 10
        #expect(load([piece], &driver) == 1)
        piece.expires = 500
        (piece.age, piece.holder) = (PackAge(date: "2", source: .packs("B")), .region("b"))
        let writes = driver.writes.count
        #expect(load([piece], &driver) == 0)
        let current = driver.machine.rows.current(unit)
        #expect(current?.expires == 500 && current?.age?.date == "2" && current?.age?.source == .packs("B"))
        #expect(driver.writes[writes...].joined().contains { if case .unit(let file) = $0 { file.expires == 500 } else { false } })
        // An earlier time changes nothing.
        piece.expires = 20
        #expect(load([piece], &driver) == 0)
        #expect(driver.machine.rows.current(unit)?.expires == 500)
    }
}
