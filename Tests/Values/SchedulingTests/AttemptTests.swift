import Scheduling
import Testing

/// Retries and the history of schedules.
struct AttemptTests {
    private static let minute: Int64 = 60_000
    private static let trouble = Trouble(cause: "bad-request", detail: "x")

    private func bench(_ rule: String = "daily 01:00", retry: String = "3,10m") throws -> Bench {
        var bench = Bench()
        bench.on(
            .putSchedule(
                Schedule(id: "s", rule: try CalendarRule(rule), label: "EE", retry: try RetryPolicy(retry), wall: 0),
                payload: [1]))
        return bench
    }

    /// Makes the jobs of what fired, and returns them.
    @discardableResult
    private func carryOut(_ bench: inout Bench, wall: Int64) -> [JobID] {
        defer { bench.fires = [] }
        return bench.fires.map { fire in
            let firing = Firing(schedule: fire.id, due: fire.due, wall: wall, build: "b")
            bench.on(.submit(Bench.job(1, request: Firing.requestID(of: fire.id, due: fire.due), firing: firing)))
            return bench.scheduler.jobIDs.last ?? 0
        }
    }

    /// Ends a job by failing its only batch as often as it is given out.
    private func fail(_ job: JobID, _ bench: inout Bench) {
        bench.join(1, credit: 4)
        for _ in 0..<40 where bench.scheduler.isLiving(job) {
            for offer in bench.offers() where offer.job == job {
                bench.on(
                    .fail(1, offer.token, Trouble(cause: "bad-tileset", detail: "y"), retriable: false, lostShards: []))
            }
            bench.cut()
            bench.pass(600_000)
            bench.join(1, credit: 4)
        }
        #expect(bench.scheduler.summary(of: job)?.state == .failed)
    }

    private func row(_ bench: Bench) throws -> Schedule { try #require(bench.store.schedules["s"]) }

    @Test(arguments: [
        ("3,10m", [10, 20, 40, 80]), ("2,1h", [60, 120, 240]), ("10,24h", [1_440, 1_440]), ("1,5m", [5]),
    ])
    func aPolicySaysHowOftenAndWhen(_ text: String, _ waits: [Int64]) throws {
        let policy = try RetryPolicy(text)
        #expect(waits.indices.map { policy.wait(after: $0 + 1) / Self.minute } == waits)
        #expect(try RetryPolicy(policy.description) == policy)
        #expect(policy.wait(after: .max) == 1_440 * Self.minute || text != "10,24h")
    }

    @Test(arguments: ["3", "0,10m", "11,10m", "3,0m", "3,25h", "3,10s", "-1,10m", "3,10m,1", "a,10m", "3,99999m", "3,"])
    func aWrongPolicyIsRefusedWithAnExample(_ text: String) {
        #expect { try RetryPolicy(text) } throws: { error in
            (error as? Refusal)?.code == "bad-schedule" && (error as? Refusal)?.hint.contains("3,10m") == true
        }
    }

    @Test(arguments: ["", "none"]) func noPolicyIsNoRetry(_ text: String) throws {
        #expect(try RetryPolicy(text) == .none)
        #expect(RetryPolicy.none.description.isEmpty)
    }

    @Test func aFiringThatMadeNoJobIsTriedAgainAndThenAlertsOnce() throws {
        var bench = try bench()
        let start = 60 * Self.minute
        bench.on(.wall(start))
        var now = start
        for (attempt, wait) in [Int64(10), 20, 40].enumerated() {
            bench.fires = []
            bench.on(.fireFailed(schedule: "s", wall: now, Self.trouble, retriable: false))
            #expect(try row(bench).attempts.failures == attempt + 1)
            #expect(try row(bench).attempts.alerts == 0)
            bench.restart()
            #expect(bench.scheduler.nextFiring == now + wait * Self.minute)
            bench.on(.wall(now + wait * Self.minute - 1))
            #expect(bench.fires.isEmpty)
            now += wait * Self.minute
            bench.on(.wall(now))
            #expect(bench.fires.map(\.due) == [now])
        }
        bench.on(.fireFailed(schedule: "s", wall: now, Self.trouble, retriable: false))
        let row = try row(bench)
        #expect(row.attempts.alerts == 1 && row.attempts.failures == 0 && row.attempts.retryAt == 0)
        #expect(row.attempts.alert == "bad-request: x" && row.skipped == 1)
        #expect(bench.scheduler.nextFiring == start + 1_440 * Self.minute)
        #expect(bench.store.firings.map(\.trigger) == [.rule, .retry, .retry, .retry])
        #expect(bench.store.firings.map(\.number) == [1, 2, 3, 4])
        #expect(bench.store.firings.allSatisfy { $0.result == .failed && $0.trouble == Self.trouble })
    }

    @Test func aJobThatFailedIsFollowedByAnother() throws {
        var bench = try bench(retry: "1,10m")
        let start = 60 * Self.minute
        bench.on(.wall(start))
        let first = try #require(carryOut(&bench, wall: start).first)
        fail(first, &bench)
        #expect(try row(bench).attempts.failures == 1)
        // The end of a job does not know the wall time: it is asked for, also after a restart.
        bench.restart()
        #expect(bench.scheduler.nextFiring == 0)
        let ended = start + 30 * Self.minute
        bench.on(.wall(ended))
        #expect(bench.fires.isEmpty && bench.scheduler.nextFiring == ended + 10 * Self.minute)
        let again = ended + 10 * Self.minute
        bench.on(.wall(again))
        let second = try #require(carryOut(&bench, wall: again).first)
        #expect(second != first && bench.scheduler.schedule("s")?.attempts.failures == 1)
        fail(second, &bench)
        let row = try row(bench)
        #expect(row.attempts.alerts == 1 && row.attempts.failures == 0 && row.fired == 2)
        #expect(row.attempts.alert.hasPrefix("job \(second) failed: ") && row.attempts.failedJob == second)
        bench.on(.wall(again + 600 * Self.minute))
        #expect(bench.fires.isEmpty)
        #expect(bench.store.firings.map(\.job) == [first, second] && bench.store.firings.map(\.build) == ["b", "b"])
    }

    @Test func withoutAPolicyAFailedJobAlertsAtOnce() throws {
        var bench = try bench(retry: "")
        bench.on(.wall(60 * Self.minute))
        let job = try #require(carryOut(&bench, wall: 60 * Self.minute).first)
        fail(job, &bench)
        #expect(try row(bench).attempts.alerts == 1)
        #expect(bench.scheduler.nextFiring == 1_500 * Self.minute)
    }

    @Test func aCancelledJobIsNoFailure() throws {
        var bench = try bench()
        bench.on(.wall(60 * Self.minute))
        let job = try #require(carryOut(&bench, wall: 60 * Self.minute).first)
        bench.on(.cancel(job))
        #expect(try row(bench).attempts.alerts == 0)
        #expect(bench.scheduler.nextFiring == 1_500 * Self.minute)
    }

    @Test func aRunByHandEndsTheAttempts() throws {
        var bench = try bench()
        bench.on(.wall(60 * Self.minute))
        bench.fires = []
        bench.on(.fireFailed(schedule: "s", wall: 60 * Self.minute, Self.trouble, retriable: false))
        bench.on(.submit(Bench.job(1, firing: Firing(schedule: "s", due: nil, wall: 61 * Self.minute))))
        #expect(bench.scheduler.schedule("s")?.attempts.failures == 0)
        #expect(bench.scheduler.nextFiring == 1_500 * Self.minute)
        #expect(bench.store.firings.map(\.trigger) == [.rule, .hand])
    }

    /// A person runs the schedule, or pauses it, while a retry is being prepared.
    @Test(arguments: [true, false]) func aRetryInFlightThatWasEndedChangesNothing(_ isByHand: Bool) throws {
        var bench = try bench()
        let start = 60 * Self.minute
        bench.on(.wall(start))
        bench.fires = []
        bench.on(.fireFailed(schedule: "s", wall: start, Self.trouble, retriable: false))
        let now = 70 * Self.minute
        bench.on(.wall(now))
        #expect(bench.fires.map(\.due) == [now])
        bench.fires = []
        if isByHand {
            bench.on(.submit(Bench.job(1, firing: Firing(schedule: "s", due: nil, wall: now))))
        } else {
            bench.on(.pauseSchedule("s", true, wall: now))
            bench.on(.pauseSchedule("s", false, wall: now))
        }
        // No second job is made of it, and the next time of the rule stays.
        #expect(bench.scheduler.isFiring("s") == !isByHand)
        bench.on(.fireFailed(schedule: "s", wall: now, Self.trouble, retriable: false))
        bench.on(.fireUnchanged(schedule: "s", wall: now))
        #expect(!bench.scheduler.isFiring("s"))
        #expect(bench.scheduler.nextFiring == 1_500 * Self.minute)
        #expect(bench.store.firings.map(\.trigger) == (isByHand ? [.rule, .hand] : [.rule]))
        #expect(try row(bench).attempts.alerts == (isByHand ? 0 : 1))
    }

    @Test func aPolicyThatIsTakenAwayEndsTheAttempts() throws {
        var bench = try bench()
        bench.on(.wall(60 * Self.minute))
        bench.fires = []
        bench.on(.fireFailed(schedule: "s", wall: 60 * Self.minute, Self.trouble, retriable: false))
        let plain = Schedule(id: "s", rule: try CalendarRule("daily 01:00"), label: "EE", wall: 61 * Self.minute)
        bench.on(.putSchedule(plain, payload: [2]))
        bench.on(.wall(62 * Self.minute))
        #expect(bench.fires.isEmpty && bench.scheduler.nextFiring == 1_500 * Self.minute)
    }

    @Test func attemptsThatADowntimeTookAlert() throws {
        var bench = try bench()
        bench.on(.wall(60 * Self.minute))
        bench.fires = []
        bench.on(.fireFailed(schedule: "s", wall: 60 * Self.minute, Self.trouble, retriable: false))
        bench.restart()
        bench.on(.wall(1_500 * Self.minute))
        #expect(bench.fires.map(\.due) == [1_500 * Self.minute])
        #expect(try row(bench).attempts.alerts == 1)
    }

    @Test func anHourlyScheduleAlertsBeforeItsNextRun() throws {
        var bench = try bench("hourly 0")
        var now = 60 * Self.minute
        bench.on(.wall(now))
        for wait in [Int64(10), 20] {
            bench.on(.fireFailed(schedule: "s", wall: now, Self.trouble, retriable: false))
            now += wait * Self.minute
            bench.on(.wall(now))
        }
        // The third would be at 13:10 for 12:00: after the next run.
        bench.on(.fireFailed(schedule: "s", wall: now, Self.trouble, retriable: false))
        #expect(try row(bench).attempts.alerts == 1)
        #expect(bench.scheduler.nextFiring == 120 * Self.minute)
    }

    @Test func whatAPauseLeftOutAndWhatStillRanIsInTheHistory() throws {
        var bench = try bench()
        bench.on(.pauseSchedule("s", true, wall: 10 * Self.minute))
        bench.on(.pauseSchedule("s", false, wall: 70 * Self.minute))
        bench.on(.wall(1_500 * Self.minute))
        carryOut(&bench, wall: 1_500 * Self.minute)
        bench.on(.wall(2_940 * Self.minute))
        #expect(bench.store.firings.map(\.result) == [.skipped, .running, .skipped])
        #expect(bench.store.firings.map { $0.trouble?.cause } == ["paused", nil, "last-job-runs"])
        #expect(bench.store.firings.map(\.due) == [60, 1_500, 2_940].map { $0 * Self.minute })
    }

    @Test func aHistoryHasAHundredRows() throws {
        var bench = try bench("hourly 0", retry: "")
        for hour in 1...Int64(130) {
            bench.on(.wall(hour * 60 * Self.minute))
            bench.on(.fireUnchanged(schedule: "s", wall: hour * 60 * Self.minute, build: "b\(hour)"))
        }
        #expect(bench.store.firings.map(\.number) == Array(31...130))
        #expect(bench.store.firings.last?.build == "b130" && bench.store.firings.last?.result == .unchanged)
        bench.on(.dropSchedule("s"))
        #expect(bench.store.firings.isEmpty)
    }

    @Test func aReplacedScheduleKeepsThePlaceOfItsNextFiring() throws {
        var bench = try bench()
        let same = Schedule(id: "s", rule: try CalendarRule("daily 01:00"), label: "DE", wall: 200 * Self.minute)
        bench.on(.putSchedule(same, payload: [2]))
        #expect(try row(bench).next == 60 * Self.minute && row(bench).label == "DE")
        let other = Schedule(id: "s", rule: try CalendarRule("daily 05:00"), label: "DE", wall: 200 * Self.minute)
        bench.on(.putSchedule(other, payload: [2]))
        #expect(try row(bench).next == 300 * Self.minute)
    }

    /// A schedule that is added again has another revision, also when the clock was set back; a pause changes nothing of it.
    @Test func theRevisionRisesWithEachChange() throws {
        var bench = try bench()
        var revisions = [try row(bench).revision]
        for wall in [200 * Self.minute, 0, 0] {
            let next = Schedule(id: "s", rule: try CalendarRule("daily 01:00"), label: "DE", wall: wall)
            bench.on(.putSchedule(next, payload: [2]))
            revisions.append(try row(bench).revision)
        }
        #expect(zip(revisions, revisions.dropFirst()).allSatisfy { $0 < $1 }, "\(revisions)")
        bench.on(.pauseSchedule("s", true, wall: 10 * Self.minute))
        #expect(try row(bench).revision == revisions.last)
    }

    /// Random firings, failures, runs by hand, pauses, restarts and changes of the clock.
    @Test(arguments: 1...200)
    func attemptsNeverExceedThePolicy(_ seed: Int) throws {
        var random = SeededRandom(state: UInt64(seed))
        let count = random.below(4)
        var bench = try bench(random.perMille(500) ? "hourly 7" : "daily 01:00", retry: count == 0 ? "" : "\(count),7m")
        var now: Int64 = 0
        for _ in 0..<200 {
            now += random.within(0...45) * Self.minute
            if random.perMille(30) { now = max(0, now - 300 * Self.minute) }
            switch random.below(20) {
            case 0: bench.restart()
            case 1: bench.on(.pauseSchedule("s", random.perMille(500), wall: now))
            case 2:
                if !bench.scheduler.isLiving(try row(bench).lastJob) {
                    bench.on(.submit(Bench.job(1, firing: Firing(schedule: "s", due: nil, wall: now))))
                }
            case 3: if bench.scheduler.isLiving(try row(bench).lastJob) { bench.on(.cancel(try row(bench).lastJob)) }
            case 4: if bench.scheduler.isLiving(try row(bench).lastJob) { fail(try row(bench).lastJob, &bench) }
            default: bench.on(.wall(now))
            }
            if !bench.fires.isEmpty, bench.scheduler.isFiring("s") {
                switch random.below(4) {
                case 0: bench.on(.fireUnchanged(schedule: "s", wall: now))
                case 1: carryOut(&bench, wall: now)
                default: bench.on(.fireFailed(schedule: "s", wall: now, Self.trouble, retriable: false))
                }
            }
            bench.fires = []
            let row = try #require(bench.scheduler.schedule("s"))
            #expect(row == bench.store.schedules["s"] || bench.scheduler.isFiring("s"))
            #expect(row.attempts.failures <= count)
            #expect(row.attempts.retryAt <= 0 || row.attempts.retryAt < row.next || bench.scheduler.isAhead(of: now))
        }
        let numbers = bench.store.firings.map(\.number)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count && numbers.count <= 100)
        // A chain of retries begins with something else and is no longer than the policy.
        var chain = 0
        for firing in bench.store.firings {
            chain = firing.trigger == .retry ? chain + 1 : 0
            #expect(chain <= count || firing.number == numbers.first)
        }
    }
}
