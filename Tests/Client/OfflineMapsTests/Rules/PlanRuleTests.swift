import Testing

@testable import OfflineMaps

/// What follows from plans and from newer catalogs.
@Suite struct PlanRuleTests {
    let item = Item.package("a")

    private func tile(_ number: Int, of pack: String) -> DownloadItem {
        let file = FileID(key: InstalledFileKey(name: "k", isPack: true), version: 1, digest: "\(pack)/\(number)")
        return DownloadItem(holder: item, file: file, size: 10, source: .tile)
    }

    @Test func aTaskContinuesWithTheNewestVersion() throws {
        var driver = RuleDriver()
        let (task, effects) = driver.add(.install, [item], Plan(downloads: [download("a", holder: item)]))
        driver.send(.received(try #require(effects.fetches.first), size: 10))
        let list = try #require(driver.add(.list, []).effects.lists.first)
        let listed = driver.send(.listed(list, .new(sequence: 2, sources: ["address"])))
        #expect(listed.stops == effects.fetches)
        let plan = try #require(listed.plans.first)
        let planned = driver.send(.planned(plan, .plan(Plan(downloads: [download("a", version: 2, holder: item)]))))
        #expect(planned.fetches.count == 1)
        #expect(planned.discards == [.part("a-1")])
        #expect(driver.state(task) == .downloading)
    }

    @Test func anItemThatHasLeftTheCatalogIsSuperseded() throws {
        var driver = RuleDriver()
        let (task, _) = driver.add(.install, [item], Plan(downloads: [download("a", holder: item)]))
        let list = try #require(driver.add(.list, []).effects.lists.first)
        let plan = try #require(driver.send(.listed(list, .new(sequence: 2, sources: ["address"]))).plans.first)
        driver.send(.planned(plan, .failed(.notInCatalog)))
        #expect(driver.state(task) == .failed(.superseded))
        // It was never in the catalog: another cause.
        let other = driver.add(.install, [.style("t")])
        driver.send(.planned(try #require(other.effects.plans.first), .failed(.notInCatalog)))
        #expect(driver.state(other.task) == .failed(.notInCatalog))
    }

    @Test func whatBelongsTogetherBecomesCurrentInOneWrite() throws {
        var driver = RuleDriver()
        let downloads = ["a", "b"].map { download($0, size: 0, holder: item) }
        let record = TaskRecord(id: TaskID(number: 0), kind: .update, items: [item], together: true)
        let plan = try #require(driver.send(.asked(RequestID(number: 1), .add(record))).plans.first)
        let verifies = driver.send(.planned(plan, .plan(Plan(downloads: downloads)))).fetches.flatMap {
            driver.send(.fetched($0)).verifies
        }
        let prepares = verifies.flatMap { driver.send(.verified($0)).prepares }
        driver.send(.prepared(prepares[0], downloads[0].file, bytes: 1))
        #expect(driver.machine.rows.files.isEmpty)
        driver.send(.prepared(prepares[1], downloads[1].file, bytes: 1))
        let write = try #require(driver.writes.last)
        for download in downloads {
            #expect(write.contains { if case .file(let file) = $0 { file.id == download.file } else { false } })
        }
        #expect(driver.machine.rows.tasks.isEmpty)
    }

    @Test func theOrderOfThePlanIsThatOfTheRequestsAndTheRateIsPassedOn() {
        var rule = TaskRule()
        rule.bytesPerSecond = 5_000
        var driver = RuleDriver()
        let effects = driver.add(
            .install, [item], Plan(downloads: ["z", "b", "a"].map { download($0, holder: item) }), rule: rule
        ).effects
        let requests = effects.compactMap { effect -> String? in
            guard case .fetch(_, let download, _, _, let rate) = effect else { return nil }
            #expect(rate == 5_000)
            return download.file.key.name
        }
        #expect(requests == ["z", "b"])
    }

    @Test func aPausedTaskStaysPausedInANewProcess() throws {
        var rule = TaskRule()
        rule.priority = -1
        var rows = StoreRows()
        let id = TaskID(number: 1)
        rows.tasks[id] = TaskRecord(id: id, kind: .install, items: [item], rule: rule)
        var driver = RuleDriver(rows, parts: ["a-1": 10])
        #expect(driver.state(id) == .paused(.user))
        #expect(driver.send(.alarm).isEmpty)
        #expect(driver.machine.parts == ["a-1": 10])
        #expect(driver.send(.asked(RequestID(number: 1), .setPriority(id, 0))).plans.count == 1)
    }

    @Test func aPlanThatCountsOnAPartThatGoesIsMadeAgain() throws {
        var driver = RuleDriver()
        let filled = download("k", isPack: true, source: .filled, holder: item)
        let pack = filled.file.digest
        let (first, effects) = driver.add(
            .load, [item], Plan(downloads: [filled, tile(0, of: pack), tile(1, of: pack)]))
        driver.send(.received(effects.fetches[0], size: 10))
        #expect(driver.send(.asked(RequestID(number: 2), .cancel(first))).discards == [.part(pack)])
        // The new plan found tile 0 in the part file, which is just being removed.
        let again = driver.add(.load, [item]).effects
        let early = driver.send(
            .planned(try #require(again.plans.first), .plan(Plan(downloads: [filled, tile(1, of: pack)]))))
        #expect(early.fetches.isEmpty && early.plans.isEmpty)
        let plan = try #require(driver.send(.gone(.part(pack))).plans.first)
        let late = driver.send(.planned(plan, .plan(Plan(downloads: [filled, tile(0, of: pack), tile(1, of: pack)]))))
        #expect(late.fetches.count == 2)
    }

    @Test func whatIsFilledCountsByItsTilesWithTheirTrueBytes() throws {
        var driver = RuleDriver()
        let filled = download("k", isPack: true, source: .filled, holder: item)
        var plan = Plan(downloads: [filled, tile(0, of: filled.file.digest), tile(1, of: filled.file.digest)])
        plan.present.tiles.add(3, bytes: 300)
        let (task, effects) = driver.add(.load, [item], plan)
        driver.send(.received(effects.fetches[0], size: 77))
        let progress = driver.machine.progress[task]
        #expect(progress?.tiles == Counts(required: 5, completed: 4, bytes: 377) && progress?.packs == Counts())
        // The server has no tile at the other place.
        driver.send(.fetched(effects.fetches[1]))
        #expect(driver.machine.progress[task]?.tiles == Counts(required: 5, completed: 5, bytes: 377))
    }

    @Test func theExpiryOfTheServerCounts() throws {
        var driver = RuleDriver()
        let (_, effects) = driver.add(
            .load, [item], Plan(downloads: [download("k", isPack: true, size: 0, holder: item)]))
        let verify = driver.send(.fetched(try #require(effects.fetches.first), expires: 42)).verifies
        let prepare = driver.send(.verified(try #require(verify.first))).prepares
        let file = download("k", isPack: true).file
        driver.send(.prepared(try #require(prepare.first), file, bytes: 1))
        #expect(driver.machine.rows.files[file]?.expires == 42)
        driver.send(.used([file: 99]))
        #expect(driver.machine.rows.files[file]?.usedAt == 99)
    }
}
