import Testing

@testable import Scheduling

struct OriginWatchTests {
    private func view(_ name: String, _ state: String, wait: Int64 = 0) -> OriginView {
        OriginView(
            name: name, state: state, limits: OriginLimits(perSecond: 1, concurrency: 1), grantedPerSecond: 0,
            grantedConcurrency: 0, workers: 0, blockedFor: wait, requests: 0, throttled: 0, failed: 0,
            foundPerSecond: nil, foundConcurrency: nil, operatorLimit: nil, failedInRow: 0)
    }

    private func at(_ seconds: Int64) -> Tick { Tick(milliseconds: seconds * 1_000) }

    @Test func aBlockIsNamedOnceHoweverLongItIs() {
        var watch = OriginWatch()
        #expect(watch.newBlocks([view("a", "open")], now: at(0)) == [])
        #expect(
            watch.newBlocks([view("a", "blocked", wait: 3_000_000), view("b", "slowed")], now: at(1))
                == [OriginBlock(origin: "a", isDown: false, wait: 3_000_000)])
        for second in stride(from: Int64(2), to: 3_000, by: 100) {
            #expect(watch.newBlocks([view("a", "blocked", wait: 1_000)], now: at(second)) == [])
        }
        #expect(watch.newBlocks([view("a", "open")], now: at(3_001)) == [])
        #expect(watch.newBlocks([view("a", "blocked", wait: 9)], now: at(3_002)).map(\.wait) == [9])
    }

    @Test func anOriginThatBlocksAgainAndAgainIsNamedOnceInTenMinutes() {
        var watch = OriginWatch()
        var named: [Int64] = []
        for second in Int64(0)..<1_300 {
            let state = second.isMultiple(of: 2) ? "blocked" : "open"
            if !watch.newBlocks([view("a", state, wait: 1_000)], now: at(second)).isEmpty { named.append(second) }
        }
        #expect(named == [0, 600, 1_200])
    }

    @Test func aServerIsDownWhileOneRequestTestsIt() {
        var watch = OriginWatch()
        let first = watch.newBlocks([view("a", "broken", wait: 1_500)], now: at(0))
        #expect(first == [OriginBlock(origin: "a", isDown: true, wait: 1_500)])
        #expect(first.first?.text == "origin a does not answer; the next attempt is in 2 s")
        #expect(watch.newBlocks([view("a", "probing")], now: at(700)) == [])
        #expect(watch.newBlocks([view("a", "broken")], now: at(701)) == [])
    }
}
