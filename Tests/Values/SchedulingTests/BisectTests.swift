import Scheduling
import Testing
import Tiles

struct BisectTests {
    private func tile(_ zoom: Int, _ x: Int, _ y: Int) throws -> TileID { try #require(TileID(zoom: zoom, x: x, y: y)) }
    private func zooms(_ low: Int, _ high: Int) throws -> ZoomRange { try #require(ZoomRange(min: low, max: high)) }

    /// A lone worker that does everything but what holds `poison`, for which it answers with `answer`.
    private func work(_ bench: inout Bench, poison: TileID, _ answer: (inout Bench, Offer) -> Void) {
        for _ in 0..<400 {
            bench.on(.ready(1, credit: 8))
            for offer in bench.offers(to: 1) {
                if case .fetch(_, let cell, let zooms, _) = offer.work, cell.contains(poison),
                    zooms.contains(poison.zoom)
                {
                    answer(&bench, offer)
                } else {
                    bench.finish(offer, by: 1)
                }
            }
            bench.cut()
            bench.runCoordinatorSteps()
            bench.pass(2_000)
        }
    }

    @Test func partsHoldEveryTileOnce() throws {
        var tiles: [TileID] = []
        for x in 0..<23 { for y in 0..<9 where (x * y) % 3 != 1 { tiles.append(try tile(14, 8_000 + x, 5_000 + y)) } }
        let mask = TileMask(tiles: tiles, maxZoom: 14)
        for cell in [try tile(8, 125, 78), try tile(11, 1_000, 625), .root] {
            let span = try zooms(max(cell.zoom, 11), 14)
            let whole = Set(mask.restricted(to: cell).tiles(in: span))
            let parts = BatchPlanner.parts(of: cell, zooms: span, mask: mask)
            #expect(parts.count > 1)
            var seen: Set<TileID> = []
            for part in parts {
                #expect(cell.contains(part.cell))
                let own = Set(mask.restricted(to: part.cell).tiles(in: part.zooms))
                #expect(UInt64(own.count) == part.tiles)
                #expect(seen.isDisjoint(with: own))
                seen.formUnion(own)
            }
            #expect(seen == whole)
        }
    }

    @Test func aLoneTileHasOnePart() throws {
        let lone = try tile(14, 8_000, 5_000)
        let mask = TileMask(tiles: [lone], maxZoom: 14)
        let parts = BatchPlanner.parts(of: try tile(8, 125, 78), zooms: try zooms(14, 14), mask: mask)
        #expect(parts == [PlannedBatch(cell: lone, zooms: try zooms(14, 14), tiles: 1)])
    }

    @Test func oneBadTileCostsOneTile() throws {
        var bench = Bench()
        let job = bench.submit(20)
        bench.join(1)
        let poison = try tile(14, 8, 3)
        var failures = 0
        work(&bench, poison: poison) { bench, offer in
            failures += 1
            bench.on(.fail(1, offer.token, Trouble(cause: "internal", detail: "it crashes"), retriable: true))
        }
        let summary = try bench.summary(job)
        #expect(summary.state == .done)
        #expect(summary.counts.failed == 1)
        #expect(summary.counts.stored == 20 * 85 - 1)
        #expect(summary.counts.tiles == 20 * 85)
        #expect(failures == 5 + 1 + 1 + 2)
        let dead = bench.rows(job).filter { $0.state == .dead }
        #expect(dead.map(\.cell) == [poison])
        #expect(dead.map(\.tiles) == [1])
    }

    @Test func workersThatDieOfATileCostThatTileToo() throws {
        var policy = SchedulerPolicy()
        policy.heartbeat = 1_000
        policy.lease = 3_000
        var bench = Bench(policy: policy)
        let job = bench.submit(20)
        let poison = try tile(14, 8, 3)
        var next: SessionID = 1
        bench.join(next)
        for _ in 0..<500 {
            bench.on(.ready(next, credit: 1))
            for offer in bench.offers(to: next) {
                if case .fetch(_, let cell, let zooms, _) = offer.work, cell.contains(poison), zooms.contains(14) {
                    next = next.advanced(by: 1)
                    bench.join(next)
                } else {
                    bench.finish(offer, by: next)
                }
            }
            bench.cut()
            bench.runCoordinatorSteps()
            bench.pass(4_000)
            bench.on(.progress(next, []))
            if try bench.summary(job).state.isFinal { break }
        }
        #expect(try bench.summary(job).state == .done)
        #expect(try bench.summary(job).counts.failed == 1)
    }

    @Test func aBadTilesetIsNotCut() throws {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1, credit: 1)
        bench.on(.fail(1, bench.offers()[0].token, Trouble(cause: "bad-tileset", detail: "x"), retriable: false))
        #expect(bench.cuts.isEmpty)
        #expect(try bench.summary(job).state == .failed)
    }

    @Test func anUnansweredCutIsTriedAgainAndSurvivesARestart() throws {
        var bench = Bench()
        let job = bench.submit(2)
        bench.join(1)
        func failOnce(_ bench: inout Bench, thenWait: Int64 = 130_000) {
            bench.on(.ready(1, credit: 8))
            for offer in bench.offers(to: 1) {
                guard case .fetch(0, _, _, _) = offer.work else { continue }
                bench.on(.fail(1, offer.token, Trouble(cause: "internal", detail: "x"), retriable: true))
            }
            bench.pass(thenWait)
            bench.on(.progress(1, []))
        }
        for _ in 0..<5 { failOnce(&bench) }
        #expect(bench.cuts.count == 1)
        bench.restart()
        #expect(bench.scheduler.audit() == [])
        bench.join(1)
        bench.pass(130_000)
        bench.cuts = []
        for _ in 0..<3 where bench.cuts.isEmpty { failOnce(&bench, thenWait: 1_000) }
        #expect(bench.cuts.count == 1)
        bench.cut()
        #expect(try bench.summary(job).counts[.split] == 1)
        #expect(bench.scheduler.batches(of: job).count == 7)
        bench.restart()
        #expect(try bench.summary(job).counts.tiles == 170)
        #expect(bench.scheduler.audit() == [])
    }

    @Test func cutsOfAJobAreBounded() throws {
        var policy = SchedulerPolicy()
        policy.maxCuts = 2
        var bench = Bench(policy: policy)
        let job = bench.submit(20)
        bench.join(1)
        work(&bench, poison: try tile(14, 8, 3)) { bench, offer in
            bench.on(.fail(1, offer.token, Trouble(cause: "internal", detail: "x"), retriable: true))
        }
        #expect(try bench.summary(job).counts[.split] == 2)
        #expect(try bench.summary(job).counts.failed == 5)
    }

    /// A worker that obeys grants waits while all are throttled: what it names as throttled was so alone.
    @Test func aTileThatIsThrottledAloneIsNamedInTheEnd() throws {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1)
        let failed = FailedTile(tile: try tile(14, 1, 1), trouble: Trouble(cause: "http-429", detail: "d"))
        var rounds = 0
        for _ in 0..<10 {
            bench.on(.ready(1, credit: 1))
            for offer in bench.offers(to: 1) {
                guard case .fetch = offer.work else { continue }
                rounds += 1
                bench.finish(offer, by: 1, failed: [failed])
            }
            bench.pass(31_000)
            bench.on(.progress(1, []))
        }
        #expect(rounds == 3)
        #expect(try bench.summary(job).counts.failed == 1)
    }

    @Test func throttlingCostsNoAttempt() throws {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1)
        var rounds = 0
        for _ in 0..<30 {
            bench.on(.ready(1, credit: 1))
            for offer in bench.offers(to: 1) {
                rounds += 1
                bench.on(.fail(1, offer.token, Trouble(cause: "throttled", detail: "d"), retriable: true))
            }
            bench.pass(31_000)
            bench.on(.progress(1, []))
        }
        #expect(rounds > 20)
        #expect(bench.scheduler.batches(of: job)[0].attempts == 0)
        #expect(try bench.summary(job).state == .fetching)
    }
}
