import Testing

@testable import OfflineMaps

/// What follows from the answers of a server and from the network.
@Suite struct FaultRuleTests {
    let item = Item.style("s")

    private func loading(_ rule: TaskRule = TaskRule()) throws -> (RuleDriver, TaskID, OpID) {
        var driver = RuleDriver()
        let (task, effects) = driver.add(.install, [item], Plan(downloads: [download("a")]), rule: rule)
        return (driver, task, try #require(effects.fetches.first))
    }

    @Test func backoffDoublesToAMinuteWithJitter() {
        var random = JitterRandom(seed: 7)
        for (tries, longest) in [(0, 1_000), (1, 2_000), (5, 32_000), (6, 60_000), (60, 60_000)] as [(Int, Int64)] {
            let waits = (0..<50).map { _ in random.backoff(tries: tries) }
            #expect(waits.allSatisfy { $0 >= longest / 2 && $0 <= longest })
            #expect(Set(waits).count > 10)
        }
    }

    @Test func eightEqualErrorsOfTheServerEndTheTask() throws {
        var (driver, task, op) = try loading()
        for attempt in 1...8 {
            let effects = driver.send(.fetchFailed(op, .status(500, retryAfter: nil)))
            #expect(effects.fetches.isEmpty)
            if attempt == 8 { break }
            driver.now += 60_001
            op = try #require(driver.send(.alarm).fetches.first)
        }
        #expect(driver.state(task) == .failed(.serverError))
    }

    @Test func aNewByteBeginsTheCountAnew() throws {
        var (driver, task, op) = try loading()
        for attempt in 1...12 {
            if attempt == 6 { driver.send(.received(op, size: 1)) }
            driver.send(.fetchFailed(op, .status(500, retryAfter: nil)))
            driver.now += 60_001
            op = try #require(driver.send(.alarm).fetches.first)
        }
        #expect(driver.state(task) == .downloading)
    }

    @Test(arguments: [(90_000, 90), (7_200_000, 3_600)] as [(Int64, Int64)])
    func retryAfterIsFollowedUpToAnHour(_ asked: Int64, _ seconds: Int64) throws {
        var (driver, task, op) = try loading()
        driver.send(.fetchFailed(op, .status(429, retryAfter: asked)))
        #expect(driver.state(task) == .waiting(.server(.seconds(seconds))))
        driver.now = seconds * 1_000 - 1
        #expect(driver.send(.alarm).fetches.isEmpty)
        driver.now += 1
        #expect(driver.send(.alarm).fetches.count == 1)
    }

    @Test(
        arguments: [
            (401, .notAllowed), (403, .notAllowed), (402, .limitExceeded), (406, .tooBig), (413, .tooBig),
        ] as [(Int, FailureCause)])
    func refusalsHaveTheirCauses(_ status: Int, _ cause: FailureCause) throws {
        var (driver, task, op) = try loading()
        driver.send(.fetchFailed(op, .status(status, retryAfter: nil)))
        #expect(driver.state(task) == .failed(cause))
    }

    @Test func whatIsNotFoundIsLookedUpInANewListOnce() throws {
        var (driver, task, op) = try loading()
        let list = try #require(driver.send(.fetchFailed(op, .status(404, retryAfter: nil))).lists.first)
        let plan = try #require(driver.send(.listed(list, .unchanged)).plans.first)
        let again = try #require(driver.send(.planned(plan, .plan(Plan(downloads: [download("a")])))).fetches.first)
        #expect(driver.send(.fetchFailed(again, .status(410, retryAfter: nil))).lists.isEmpty)
        #expect(driver.state(task) == .failed(.notFound))
    }

    @Test func wrongBytesAreDownloadedOnceMore() throws {
        var (driver, task, op) = try loading()
        for attempt in 1...2 {
            driver.send(.received(op, size: 1_000))
            let verify = try #require(driver.send(.fetched(op)).verifies.first)
            let discards = driver.send(.wrong(verify)).discards
            #expect(discards == [.part("a-1")])
            let next = driver.send(.gone(.part("a-1"))).fetches
            #expect(next.count == (attempt == 1 ? 1 : 0))
            op = next.first ?? op
        }
        #expect(driver.state(task) == .failed(.badBytes))
    }

    @Test func withoutANetworkNothingIsTriedAndNothingIsCounted() throws {
        var (driver, task, op) = try loading()
        #expect(driver.send(.network(.none)).stops == [op])
        #expect(driver.state(task) == .waiting(.network))
        driver.now += 86_400_000
        #expect(driver.send(.alarm).fetches.isEmpty)
        #expect(driver.send(.network(.free)).fetches.count == 1)
    }

    @Test func theNetworkRuleStops() throws {
        var rule = TaskRule()
        rule.network = .notExpensive
        var (driver, task, op) = try loading(rule)
        #expect(driver.send(.network(.expensive)).stops == [op])
        #expect(driver.state(task) == .paused(.networkRule))
    }

    @Test func aTaskCanFailWithoutANetwork() throws {
        var rule = TaskRule()
        rule.failsWithoutNetwork = true
        var (driver, task, op) = try loading(rule)
        driver.send(.fetchFailed(op, .noConnection))
        #expect(driver.state(task) == .failed(.connection))
    }

    @Test func aTaskCanFailWhenTheDeviceIsOffline() throws {
        var rule = TaskRule()
        rule.failsWithoutNetwork = true
        var (driver, task, op) = try loading(rule)
        #expect(driver.send(.forceOffline(true)).stops == [op])
        #expect(driver.state(task) == .failed(.connection))
    }

    @Test func aConnectionThatIsFoundEndsABackoffAndNotTheWaitOfAServer() throws {
        var driver = RuleDriver()
        let (_, effects) = driver.add(.install, [item], Plan(downloads: ["a", "b"].map { download($0) }))
        driver.send(.fetchFailed(effects.fetches[0], .status(503, retryAfter: 5_000)))
        driver.send(.fetchFailed(effects.fetches[1], .broken))
        driver.send(.network(.none))
        #expect(driver.send(.network(.free)).fetches.isEmpty)
        driver.now = 5_000
        #expect(driver.send(.alarm).fetches.count == 2)
    }

    @Test func theConnectionIsLostAndFoundInTurns() throws {
        var (driver, _, op) = try loading()
        var events: [String] = []
        func note(_ effects: [Effect]) {
            for case .report(let event) in effects {
                switch event {
                case .connectionLost: events.append("lost")
                case .connectionFound: events.append("found")
                default: break
                }
            }
        }
        note(driver.send(.fetchFailed(op, .portal)))
        note(driver.send(.network(.none)))
        note(driver.send(.network(.free)))
        op = try #require(driver.machine.ops.of(TaskID(number: 1)).first)
        note(driver.send(.fetchFailed(op, .noConnection)))
        #expect(events == ["lost", "found", "lost"])
    }

    /// The last report of a task.
    private func end(_ effects: [Effect]) -> StoreTask? {
        effects.compactMap { if case .report(.task(let task)) = $0 { task } else { nil } }.last
    }

    /// Calls wait for a list as long as for a server that says nothing, and no longer.
    @Test(arguments: [(503, 3_600_000, "1 h"), (429, 31_000, "31 s")] as [(Int, Int64, String)])
    func aListWhoseServerAsksToWaitForLongEnds(_ status: Int, _ asked: Int64, _ words: String) throws {
        var driver = RuleDriver()
        let (_, effects) = driver.add(.list, [])
        let op = try #require(effects.lists.first)
        let last = try #require(end(driver.send(.listed(op, .fault(.status(status, retryAfter: asked))))))
        #expect(last.state == .failed(.serverError))
        #expect(last.failureText?.contains("\(status)") == true && last.failureText?.contains(words) == true)
        #expect(driver.machine.rows.tasks.isEmpty && driver.machine.askedAt.isEmpty)
    }

    @Test func aListWhoseServerAsksToWaitForAMomentIsAskedAgain() throws {
        var driver = RuleDriver()
        let (task, effects) = driver.add(.list, [])
        var op = try #require(effects.lists.first)
        for _ in 0..<3 {
            driver.send(.listed(op, .fault(.status(503, retryAfter: 9_000))))
            #expect(driver.state(task) == .waiting(.server(.seconds(9))))
            driver.now += 9_000
            op = try #require(driver.send(.alarm).lists.first)
        }
        let last = try #require(end(driver.send(.listed(op, .fault(.status(503, retryAfter: 9_000))))))
        #expect(last.state == .failed(.serverError))
    }

    @Test(arguments: [(FetchFault.status(500, retryAfter: nil), FailureCause.serverError), (.broken, .connection)])
    func aListThatFailsAgainAndAgainEndsInHalfAMinute(_ fault: FetchFault, _ cause: FailureCause) throws {
        var driver = RuleDriver()
        let (_, effects) = driver.add(.list, [])
        var op = try #require(effects.lists.first)
        while true {
            let answer = driver.send(.listed(op, .fault(fault)))
            if let last = end(answer), last.state == .failed(cause) {
                #expect(last.failureText?.isEmpty == false)
                break
            }
            driver.now += 1_000
            while driver.now <= StoreMachine.listPatience {
                if let next = driver.send(.alarm).lists.first {
                    op = next
                    break
                }
                driver.now += 500
            }
            try #require(driver.now <= StoreMachine.listPatience)
        }
        #expect(driver.machine.rows.tasks.isEmpty)
    }

    /// What waits for the list goes on with the one that is there.
    @Test func aTaskDoesNotWaitForAListThatEnds() throws {
        var (driver, task, op) = try loading()
        let list = try #require(driver.send(.fetchFailed(op, .status(404, retryAfter: nil))).lists.first)
        let answer = driver.send(.listed(list, .fault(.status(503, retryAfter: 3_600_000))))
        op = try #require(answer.plans.first)
        op = try #require(driver.send(.planned(op, .plan(Plan(downloads: [download("a")])))).fetches.first)
        driver.send(.fetchFailed(op, .status(404, retryAfter: nil)))
        #expect(driver.state(task) == .failed(.notFound))
    }

    @Test func aCaptivePortalCountsAsNoConnection() throws {
        var driver = RuleDriver()
        let (_, effects) = driver.add(.list, [])
        let ended = driver.send(.listed(try #require(effects.lists.first), .fault(.portal)))
        let causes = ended.compactMap { if case .report(.catalogFailed(let cause)) = $0 { cause } else { nil } }
        #expect(causes == [.connection])
        #expect(driver.machine.rows.tasks.isEmpty)
    }

    @Test func aStepThatFillsTheDiskPausesItsTaskAndIsTriedAgainWithSpace() throws {
        var (driver, task, op) = try loading()
        driver.send(.received(op, size: 1_000))
        let verify = try #require(driver.send(.fetched(op)).verifies.first)
        #expect(driver.send(.fileFailed(verify, isFull: true)).verifies.isEmpty)
        let needed = StoreMachine.stepBytes
        #expect(driver.state(task) == .paused(.diskFull(needed: needed, free: 0)))
        #expect(driver.send(.disk(free: needed)).verifies.isEmpty)
        driver.now += StoreMachine.diskInterval
        #expect(driver.send(.disk(free: needed - 1)).verifies.isEmpty)
        #expect(driver.send(.disk(free: needed)).verifies.count == 1)
        #expect(driver.state(task) == .verifying)
    }

    @Test func aDiskThatFailsOtherwiseFailsTheTaskWithWhatItSaid() throws {
        var (driver, task, op) = try loading()
        driver.send(.fetchFailed(op, .storage("'a.part' cannot be written: Input/output error.")))
        #expect(driver.state(task) == .failed(.storage))
        let record = try #require(driver.machine.rows.tasks[task])
        #expect(driver.machine.view(record).failureText == "'a.part' cannot be written: Input/output error.")
        let plan = try #require(driver.send(.asked(RequestID(number: 9), .retry(task))).plans.first)
        #expect(driver.machine.rows.tasks[task]?.failureText == nil)
        let fetch = try #require(driver.send(.planned(plan, .plan(Plan(downloads: [download("a")])))).fetches.first)
        driver.send(.received(fetch, size: 1_000))
        let verify = try #require(driver.send(.fetched(fetch)).verifies.first)
        driver.send(.fileFailed(verify, isFull: false, text: "Cannot open 'a.part': Input/output error."))
        #expect(driver.state(task) == .failed(.storage))
        #expect(driver.machine.rows.tasks[task]?.failureText == "Cannot open 'a.part': Input/output error.")
    }

    @Test func aFullDiskPausesAndContinuesByItself() throws {
        var (driver, task, op) = try loading()
        driver.send(.fetchFailed(op, .diskFull))
        let needed = 1_000 + StoreMachine.diskMargin
        #expect(driver.state(task) == .paused(.diskFull(needed: needed, free: 0)))
        driver.now += StoreMachine.diskInterval
        #expect(driver.send(.disk(free: needed - 1)).fetches.isEmpty)
        #expect(driver.send(.disk(free: needed)).fetches.count == 1)
    }
}
