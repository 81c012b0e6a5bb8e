import Testing

@testable import Commands

/// The rules of `packhorse up`, `build` and `demo`, without processes.
struct SupervisorTests {
    private let begin = ContinuousClock.now
    private var supervisor = Supervisor(stages: [["c"], ["w1", "w2"], ["g"]], restart: .each)

    private func at(_ seconds: Int) -> ContinuousClock.Instant { begin + .seconds(seconds) }

    /// A supervisor whose processes are all ready at second 0.
    private func running() -> Supervisor {
        var supervisor = supervisor
        _ = supervisor.handle(.begin, now: begin)
        for name in ["c", "w1", "w2", "g"] { _ = supervisor.handle(.ready(name), now: begin) }
        return supervisor
    }

    @Test mutating func aStageStartsWhenTheOneBeforeIsReady() {
        #expect(supervisor.handle(.begin, now: begin) == [.start("c", isFirst: true)])
        #expect(
            supervisor.handle(.ready("c"), now: begin) == [.start("w1", isFirst: true), .start("w2", isFirst: true)])
        #expect(supervisor.handle(.ready("w2"), now: begin) == [])
        #expect(supervisor.handle(.ready("w2"), now: begin) == [], "a repeated report counts once")
        #expect(supervisor.handle(.ready("w1"), now: begin) == [.start("g", isFirst: true)])
        #expect(supervisor.handle(.ready("g"), now: begin) == [.isUp])
        #expect(supervisor.alarm == nil)
    }

    @Test func aProcessThatEndsIsStartedAgainAfterItsWait() {
        var supervisor = running()
        #expect(supervisor.handle(.ended("w1", .forGood), now: at(5)) == [.tellRestart("w1", wait: .seconds(1))])
        #expect(supervisor.alarm == at(6))
        #expect(supervisor.handle(.alarm, now: at(5)) == [], "not before its time")
        #expect(supervisor.handle(.alarm, now: at(6)) == [.start("w1", isFirst: false)])
        #expect(supervisor.handle(.alarm, now: at(6)) == [], "once")
        #expect(supervisor.handle(.ended("w1", .forGood), now: at(7)) == [.tellRestart("w1", wait: .seconds(2))])
        #expect(supervisor.handle(.ended("c", .forGood), now: at(7)) == [.tellRestart("c", wait: .seconds(1))])
        #expect(supervisor.alarm == at(8), "each process has its own wait")
        #expect(supervisor.handle(.alarm, now: at(9)) == [.start("c", isFirst: false), .start("w1", isFirst: false)])
        #expect(supervisor.handle(.ready("c"), now: at(9)) == [], "everything was said at the first start")
        #expect(supervisor.handle(.ended("w1", .forGood), now: at(69)) == [.tellRestart("w1", wait: .seconds(1))])
    }

    @Test func theEndIsTheReverseOfTheStart() {
        var supervisor = running()
        #expect(supervisor.handle(.stop, now: at(1)) == [.terminate("g")])
        #expect(supervisor.handle(.ended("g", .forGood), now: at(1)) == [.terminate("w1"), .terminate("w2")])
        #expect(supervisor.handle(.ended("w2", .forGood), now: at(2)) == [])
        #expect(supervisor.handle(.ended("w1", .forGood), now: at(3)) == [.terminate("c")])
        #expect(supervisor.handle(.ended("c", .forGood), now: at(4)) == [.finish(.stopped)])
        #expect(supervisor.handle(.stop, now: at(5)) == [])
    }

    @Test func processesThatWaitAreNotStartedForTheEnd() {
        var supervisor = running()
        for name in ["g", "w1"] { _ = supervisor.handle(.ended(name, .forGood), now: at(1)) }
        #expect(supervisor.handle(.stop, now: at(1)) == [.terminate("w2")])
        #expect(supervisor.handle(.alarm, now: at(10)) == [])
        #expect(supervisor.handle(.ended("w2", .forGood), now: at(10)) == [.terminate("c")])
    }

    @Test func aCrashDuringTheEndIsAnEnd() {
        var supervisor = running()
        _ = supervisor.handle(.stop, now: at(1))
        #expect(supervisor.handle(.ended("c", .forGood), now: at(1)) == [], "the gateway is still ending")
        _ = supervisor.handle(.ended("g", .forGood), now: at(1))
        _ = supervisor.handle(.ended("w1", .forGood), now: at(1))
        #expect(supervisor.handle(.ended("w2", .forGood), now: at(1)) == [.finish(.stopped)])
    }

    @Test func aProcessThatDoesNotEndInTimeIsKilled() {
        var supervisor = running()
        _ = supervisor.handle(.stop, now: at(0))
        _ = supervisor.handle(.ended("g", .forGood), now: at(1))
        _ = supervisor.handle(.ended("w1", .forGood), now: at(2))
        #expect(supervisor.alarm == at(1) + Supervisor.patience)
        #expect(supervisor.handle(.alarm, now: at(16)) == [.kill("w2")])
        #expect(supervisor.alarm == nil)
        #expect(supervisor.handle(.ended("w2", .forGood), now: at(16)) == [.terminate("c")])
        #expect(supervisor.alarm == at(16) + Supervisor.patience)
    }

    @Test func aSecondSignalEndsAtOnce() {
        var supervisor = running()
        _ = supervisor.handle(.stop, now: at(0))
        _ = supervisor.handle(.ended("g", .forGood), now: at(1))
        #expect(supervisor.handle(.stop, now: at(1)) == [.kill("w2"), .kill("w1"), .kill("c"), .finish(.killed)])
        #expect(supervisor.handle(.ended("c", .forGood), now: at(1)) == [])
        #expect(supervisor.alarm == nil)
    }

    @Test mutating func anEndBeforeEverythingIsUpIsAFailure() {
        _ = supervisor.handle(.begin, now: begin)
        #expect(supervisor.handle(.ended("c", .forGood), now: at(1)) == [.finish(.failed("c"))])

        var later = Supervisor(stages: supervisor.stages, restart: .each)
        _ = later.handle(.begin, now: begin)
        _ = later.handle(.ready("c"), now: begin)
        #expect(later.handle(.ended("w2", .forGood), now: at(1)) == [.terminate("w1")], "the others end in order")
        #expect(later.handle(.ended("w1", .forGood), now: at(1)) == [.terminate("c")])
        #expect(later.handle(.ended("c", .forGood), now: at(1)) == [.finish(.failed("w2"))])
    }

    @Test mutating func aSignalDuringTheStartEndsWhatRuns() {
        _ = supervisor.handle(.begin, now: begin)
        #expect(supervisor.handle(.stop, now: at(1)) == [.terminate("c")])
        #expect(supervisor.handle(.ready("c"), now: at(1)) == [], "no worker is started")
        #expect(supervisor.handle(.ended("c", .forGood), now: at(1)) == [.finish(.stopped)])
    }

    @Test func waitsDoubleUpToThirtySecondsAndBeginAgainAfterAMinute() {
        var delay = RestartDelay()
        let waits = (0..<7).map { _ in delay.wait(afterRunning: .seconds(59)) }
        #expect(waits == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        #expect(delay.wait(afterRunning: .seconds(60)) == .seconds(1))
        #expect(delay.wait(afterRunning: .zero) == .seconds(2))
    }

    /// One rule for every process and every time: a killed one is started again.
    @Test mutating func oneThatIsKilledDuringTheStartIsStartedAgain() {
        _ = supervisor.handle(.begin, now: begin)
        #expect(supervisor.handle(.ended("c", .killed), now: at(1)) == [.tellRestart("c", wait: .seconds(1))])
        #expect(supervisor.handle(.alarm, now: at(2)) == [.start("c", isFirst: true)], "nothing is up yet")
        #expect(supervisor.handle(.ready("c"), now: at(3)).count == 2)
        #expect(supervisor.handle(.ended("w1", .killed), now: at(4)) == [.tellRestart("w1", wait: .seconds(1))])
        #expect(supervisor.handle(.ready("w2"), now: at(4)) == [], "the stage waits for the other one")
        #expect(supervisor.handle(.alarm, now: at(5)) == [.start("w1", isFirst: false)])
        #expect(supervisor.handle(.ready("w1"), now: at(6)) == [.start("g", isFirst: true)])
        #expect(supervisor.handle(.ready("g"), now: at(6)) == [.isUp])
    }

    /// `build` and `demo`.
    private func build(_ patience: Duration = .seconds(10)) -> Supervisor {
        var build = Supervisor(stages: [["c"], ["w1", "w2"]], restart: .all(most: 2, patience: patience))
        _ = build.handle(.begin, now: begin)
        return build
    }

    private func up(_ build: inout Supervisor, now: ContinuousClock.Instant) {
        for name in ["c", "w1", "w2"] { _ = build.handle(.ready(name), now: now) }
        #expect(build.phase == .running)
    }

    @Test func allAreStartedAgainWhenOneIsKilled() {
        for (victim, others) in [("c", ["w2", "w1"]), ("w1", ["w2", "c"]), ("w2", ["w1", "c"])] {
            var build = build()
            up(&build, now: begin)
            #expect(
                build.handle(.ended(victim, .killed), now: at(1))
                    == [.tellRestart(victim, wait: .zero)] + others.map { .kill($0) } + [.start("c", isFirst: true)])
            #expect(build.handle(.ended(others[0], .killed), now: at(1)) == [], "that was the order")
            up(&build, now: at(2))
        }
    }

    /// Before the coordinator is ready there is nothing else to end.
    @Test func allAreStartedAgainWhenTheCoordinatorIsKilledBeforeItIsReady() {
        var build = build()
        for second in 1...2 {
            #expect(
                build.handle(.ended("c", .killed), now: at(second))
                    == [.tellRestart("c", wait: .zero), .start("c", isFirst: true)])
        }
        #expect(build.handle(.ended("c", .killed), now: at(3)) == [.finish(.failed("c"))], "not without end")
    }

    @Test func oneThatEndsByItselfEndsAllAtOnce() {
        var build = build()
        #expect(build.handle(.ended("c", .forGood), now: at(1)) == [.finish(.failed("c"))])
        build = self.build()
        up(&build, now: begin)
        #expect(
            build.handle(.ended("w2", .forGood), now: at(1)) == [.kill("w1"), .kill("c"), .finish(.failed("w2"))])
    }

    /// Such as space on a disk.
    @Test func whatMayComeBackIsWaitedForUntilThePatienceEnds() {
        var build = build()
        up(&build, now: begin)
        #expect(
            build.handle(.ended("c", .temporarily), now: at(1))
                == [.tellRestart("c", wait: .seconds(1)), .kill("w2"), .kill("w1")])
        #expect(build.alarm == at(2))
        for second in 2...10 {
            #expect(build.handle(.alarm, now: at(second)) == [.start("c", isFirst: true)])
            #expect(build.handle(.ended("c", .temporarily), now: at(second)) == [], "it was said")
        }
        #expect(build.handle(.alarm, now: at(11)) == [.start("c", isFirst: true)])
        #expect(build.handle(.ended("c", .temporarily), now: at(11)) == [.finish(.failed("c"))])
    }

    @Test func thePatienceBeginsAgainWhenEverythingWasUp() {
        var build = build()
        for start in [1, 100] {
            _ = build.handle(.ended("c", .temporarily), now: at(start))
            #expect(build.handle(.alarm, now: at(start + 1)) == [.start("c", isFirst: true)])
            up(&build, now: at(start + 2))
        }
    }

    @Test func theEndAtOnceNeedsNoOrder() {
        var build = build()
        up(&build, now: begin)
        #expect(build.handle(.kill, now: at(1)) == [.kill("w2"), .kill("w1"), .kill("c"), .finish(.killed)])
        #expect(build.handle(.kill, now: at(1)) == [] && build.alarm == nil)
    }
}
