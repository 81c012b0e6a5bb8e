import Scheduling
import Testing
import Tiles

/// Costs, with bounds wide enough for a debug build on a busy machine: they detect a change to O(n) per event, not a
/// slow machine.
struct ScaleTests {
    @Test func anEventCostsTheSameInAJobOfTwentyThousandBatchesAndAThousandWorkers() {
        func cost(batches: Int, sessions: SessionID) -> Duration {
            var scheduler = Scheduler(epoch: 1, now: Tick(milliseconds: 0))
            _ = scheduler.handle(.submit(Bench.job(batches)), now: Tick(milliseconds: 0))
            let profile = SessionProfile(name: "w", host: "h", processID: 1, build: "b", canFetch: true, canMerge: true)
            for id in 1...sessions { _ = scheduler.handle(.hello(id, profile, held: []), now: Tick(milliseconds: 0)) }
            let clock = ContinuousClock()
            var events = 0
            let spent = clock.measure {
                for round in 0..<(2_000 / Int(sessions.rawValue) + 1) {
                    for id in 1...sessions where events < 4_000 {
                        let now = Tick(milliseconds: Int64(round) * 1_000)
                        for effect in scheduler.handle(.ready(id, credit: 1), now: now) {
                            guard case .send(_, .offer(let offer)) = effect else { continue }
                            _ = scheduler.handle(
                                .progress(id, [LeaseProgress(token: offer.token, done: 5, bytes: 5)]), now: now)
                            _ = scheduler.handle(.commit(id, offer.token, Bench.result(offer)), now: now)
                            events += 3
                        }
                    }
                }
            }
            return spent / max(events, 1)
        }
        let small = cost(batches: 1_400, sessions: 10)
        let large = cost(batches: 20_000, sessions: 1_000)
        print("an event of a job of 1,400 batches costs \(small), of 20,000 batches and 1,000 workers \(large)")
        #expect(large < small * 8 + .microseconds(100))
    }

    @Test func aCountryTheSizeOfGermanyIsPlannedQuickly() throws {
        let zooms = try #require(ZoomRange(min: 0, max: 14))
        let circle = Geometry.circles(points: [Coordinate(longitude: 10, latitude: 51)], radiusMeters: 340_000)
        let mask = TileMask(covering: MercatorShape(circle), maxZoom: 14)
        var batches = 0
        let spent = ContinuousClock().measure {
            for _ in BatchPlanner(mask: mask, zooms: zooms).batches() { batches += 1 }
        }
        print("\(mask.count(in: zooms)) tiles in \(batches) batches planned in \(spent)")
        #expect(batches >= 64)
        #expect(spent < .seconds(10))
    }
}
