import Testing

@testable import OfflineMaps

/// Order, slots, writes and the end of tasks.
@Suite struct QueueRuleTests {
    let item = Item.style("s")

    @Test func twoFilesAreDownloadedAtOnceAndAListDisplacesOne() {
        var driver = RuleDriver()
        let (_, effects) = driver.add(.install, [item], Plan(downloads: ["a", "b", "c"].map { download($0) }))
        #expect(effects.fetches.count == 2)
        let (_, more) = driver.add(.list, [])
        #expect(more.lists.count == 1)
        #expect(more.stops == [effects.fetches[1]])
    }

    @Test func eightTilesAreDownloadedAtOnceAndFillAPack() throws {
        let tiles = (0..<10).map { index in
            let file = FileID(key: InstalledFileKey(name: "k", isPack: true), version: 1, digest: "k/\(index)")
            return DownloadItem(holder: item, file: file, size: 10, source: .tile)
        }
        var driver = RuleDriver()
        let plan = Plan(downloads: tiles + [download("k", isPack: true, source: .filled)], onlineTiles: 10)
        let (task, effects) = driver.add(.load, [item], plan)
        var open = effects.fetches
        #expect(open.count == 8)
        var prepares: [OpID] = []
        while let op = open.popLast() {
            #expect(prepares.isEmpty)
            let next = driver.send(.fetched(op))
            open += next.fetches
            prepares += next.prepares
        }
        let file = download("k", isPack: true).file
        driver.send(.prepared(try #require(prepares.first), file, bytes: 90))
        #expect(driver.machine.rows.tasks[task] == nil)
        #expect(driver.machine.rows.current(file.key)?.bytes == 90)
        #expect(driver.machine.rows.tiles[item] == 10)
    }

    @Test func aHigherPriorityTakesTheSlots() {
        var driver = RuleDriver()
        let low = driver.add(.install, [item], Plan(downloads: ["a", "b"].map { download($0) })).effects.fetches
        var rule = TaskRule()
        rule.priority = 1
        let other = Item.style("t")
        let high = driver.add(.install, [other], Plan(downloads: [download("c", holder: other)]), rule: rule).effects
        #expect(high.fetches.count == 1)
        #expect(high.stops == [low[1]])
    }

    @Test func cancellingStopsInTheSameStepAndRemovesThePartLater() throws {
        var driver = RuleDriver()
        let (task, effects) = driver.add(.install, [item], Plan(downloads: [download("a")]))
        driver.send(.received(try #require(effects.fetches.first), size: 10))
        let step = driver.machine.handle(.asked(RequestID(number: 9), .cancel(task)), now: Instant(milliseconds: 0))
        #expect(step.stops == effects.fetches)
        #expect(step.discards.isEmpty)
        guard case .write(let id, let changes)? = step.last(where: { if case .write = $0 { true } else { false } })
        else {
            Issue.record("nothing is written")
            return
        }
        #expect(changes.contains(.endTask(task)))
        #expect(driver.machine.handle(.written(id), now: Instant(milliseconds: 0)).discards == [.part("a-1")])
    }

    @Test func nothingIsAnsweredOrPlannedBeforeTheTaskIsDurable() {
        var machine = StoreMachine(StoreRows(), seed: 1)
        let start = Instant(milliseconds: 0)
        _ = machine.handle(.opened(parts: [:], prepared: [], free: 1 << 40), now: start)
        _ = machine.handle(.start, now: start)
        let record = TaskRecord(id: TaskID(number: 0), kind: .install, items: [item])
        let effects = machine.handle(.asked(RequestID(number: 1), .add(record)), now: start)
        #expect(effects.count == 1)
        guard case .write(let id, _)? = effects.first else {
            Issue.record("no write")
            return
        }
        let after = machine.handle(.written(id), now: start)
        #expect(after.plans.count == 1)
        #expect(after.contains { if case .answer = $0 { true } else { false } })
    }

    @Test func aPriorityBelowZeroPauses() throws {
        var driver = RuleDriver()
        let (task, effects) = driver.add(.install, [item], Plan(downloads: [download("a")]))
        let paused = driver.send(.asked(RequestID(number: 9), .setPriority(task, -1)))
        #expect(paused.stops == effects.fetches)
        #expect(driver.state(task) == .paused(.user))
        #expect(driver.send(.asked(RequestID(number: 10), .setPriority(task, 0))).fetches.count == 1)
    }

    @Test func equalTasksAreOne() {
        var driver = RuleDriver()
        let first = driver.add(.install, [item], Plan(downloads: [download("a")])).task
        #expect(driver.add(.install, [item]).task == first)
        #expect(driver.machine.rows.tasks.count == 1)
    }

    @Test func anOlderListIsRefusedUnlessAllowed() throws {
        var rows = StoreRows()
        rows.sequences = ["address": 5]
        rows.catalog = 5
        var driver = RuleDriver(rows)
        let refused = driver.add(.list, []).effects.lists.first
        driver.send(.listed(try #require(refused), .new(sequence: 4, sources: ["address", "key"])))
        #expect(driver.machine.rows.catalog == 5)
        let allowed = driver.add(.list, [], allowOlder: true).effects.lists.first
        driver.send(.listed(try #require(allowed), .new(sequence: 4, sources: ["address", "key"])))
        #expect(driver.machine.rows.catalog == 4)
        #expect(driver.machine.rows.sequences == ["address": 4, "key": 4])
    }

    @Test func suspendingEndsQuietly() throws {
        var driver = RuleDriver()
        let (_, effects) = driver.add(.install, [item], Plan(downloads: [download("a")]))
        let stopped = driver.send(.suspend)
        #expect(stopped.stops == effects.fetches)
        #expect(stopped.contains { if case .quiet = $0 { true } else { false } })
    }

    /// A progress that is below a whole percent is shown to whoever asks, and not reported.
    @Test func theProgressDoesNotFallWhileTheEndOfATaskIsWritten() throws {
        var driver = RuleDriver()
        let item = Item.region("r")
        let packs = (0..<200).map { download("k\($0)", isPack: true, size: $0 == 0 ? 1_000_000 : 10, holder: item) }
        let (task, effects) = driver.add(.load, [item], Plan(downloads: packs))
        let record = try #require(driver.machine.rows.tasks[task])
        var (open, done, shown) = (effects, 0, UInt64(0))
        while done < open.count, driver.machine.rows.tasks[task] != nil {
            var next: [Effect] = []
            switch open[done] {
            case .fetch(let op, let download, _, _, _):
                next += driver.send(.received(op, size: download.size))
                next += driver.send(.fetched(op))
            case .verify(let op, _): next += driver.send(.verified(op))
            case .prepare(let op, let download):
                // The write that ends the task is not acknowledged.
                let event = Event.prepared(op, download.file, bytes: download.size)
                if shown == 199 {
                    _ = driver.machine.handle(event, now: Instant(milliseconds: 0))
                    break
                }
                next += driver.send(event)
            default: break
            }
            if let now = driver.machine.rows.tasks[task] { shown = driver.machine.view(now).progress.packs.completed }
            open += next
            done += 1
        }
        #expect(driver.machine.ending[task] != nil && shown == 199)
        let last = driver.machine.lastView(of: record)
        #expect(last.state == .installing && last.progress.packs.completed == 200)
    }
}
