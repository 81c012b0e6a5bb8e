import Digests
import Testing
import Tiles

@testable import Scheduling

/// Batches whose ranges are planned first.
struct RangePlanTests {
    private static let zooms = ZoomRange(min: 0, max: 12) ?? .all
    private static let tiles: UInt64 = 2_000

    private func job(packages: Int = 1) -> JobSubmission {
        JobSubmission(
            requestID: "", priority: 0, weight: 1, allowedMissing: 0,
            batches: [PlannedBatch(cell: .root, zooms: Self.zooms, tiles: Self.tiles, role: .plan)],
            packages: (0..<packages).map { Package(id: "P\($0)", tiles: Self.tiles) })
    }

    private func plan(_ tiles: [UInt64], version: String? = nil) -> RangePlanResult {
        RangePlanResult(
            digest: Bench.digest(77), bytes: 10,
            parts: tiles.map { PlannedBatch(cell: .root, zooms: Self.zooms, tiles: $0) }, sourceVersion: version)
    }

    private func join(_ bench: inout Bench, _ id: SessionID, credit: UInt32, plans: Bool = true) {
        var profile = SessionProfile(
            name: "w\(id)", host: "h", processID: id.rawValue, build: "test", canFetch: true, canMerge: true)
        profile.plansRanges = plans
        bench.on(.hello(id, profile, held: []))
        bench.on(.ready(id, credit: credit))
    }

    @Test func aPlanBecomesPartsThatAllTilesAreIn() throws {
        var bench = Bench()
        bench.on(.submit(job()))
        join(&bench, 1, credit: 4)
        let id = try #require(bench.scheduler.jobIDs.last)
        let first = try #require(bench.offers().first)
        #expect(first.isToPlan && first.plan == nil && first.sources.isEmpty)
        #expect(bench.scheduler.isPlanning(id))
        bench.on(.commit(1, first.token, .plan(plan([700, 900, 400]))))
        #expect(!bench.scheduler.isPlanning(id))
        // The answer was lost, and the worker repeats its commit.
        bench.on(.commit(1, first.token, .plan(plan([700, 900, 400]))))
        let answers = bench.messages(to: 1).filter { if case .ack = $0 { true } else { false } }
        #expect(answers.count == 2)
        var offers = bench.offers()
        #expect(offers.map(\.plan?.first) == [0, 700, 1_600])
        #expect(
            offers.allSatisfy { $0.plan?.digest == Bench.digest(77) && $0.plan?.tiles == Self.tiles && !$0.isToPlan })
        // A coordinator that dies finds the parts.
        bench.restart()
        #expect(bench.scheduler.audit() == [])
        #expect(bench.scheduler.batches(of: id).map(\.role) == bench.rows(id).map(\.role))
        join(&bench, 2, credit: 4)
        bench.pass(130_000)
        bench.on(.ready(2, credit: 4))
        offers = bench.offers(to: 2)
        #expect(Set(offers.map(\.plan?.first)) == [0, 700, 1_600])
        for offer in offers { bench.finish(offer, by: 2, seed: UInt64(offer.plan?.first ?? 0)) }
        bench.runCoordinatorSteps()
        #expect(try bench.summary(id).counts.stored == Self.tiles)
        #expect(try bench.summary(id).state == .merging)
    }

    /// What became of the list of blocks is kept through a restart; the first refusal stays.
    @Test func whatBecameOfTheListOfBlocksIsKept() throws {
        var bench = Bench()
        bench.on(.submit(job()))
        join(&bench, 1, credit: 4)
        let id = try #require(bench.scheduler.jobIDs.last)
        let first = try #require(bench.offers().first)
        var planned = plan([1_000, 1_000])
        planned.blockList = "used: 3 blocks in 90 bytes"
        bench.on(.commit(1, first.token, .plan(planned)))
        #expect(try bench.summary(id).blockList == "used: 3 blocks in 90 bytes")
        for (offer, note) in zip(bench.offers(), ["not used: a", "not used: b"]) {
            var counts = FetchCounts(stored: 1_000, received: 10, receivedAgain: 12, notSent: 5)
            counts.blockList = note
            bench.on(
                .commit(
                    1, offer.token, .fetch(Bench.digest(offer.plan?.first == 0 ? 1 : 2), counts, failures: [])))
        }
        bench.restart()
        let summary = try bench.summary(id)
        #expect(summary.blockList == "not used: a")
        #expect((summary.counts.receivedAgain, summary.counts.notSent) == (20, 10))
    }

    @Test(arguments: [[], [2_001], [1_999], [1_000, 1_001], [0, 2_000], [UInt64.max, 2_001]] as [[UInt64]])
    func aPlanOfOtherTilesIsRefused(_ tiles: [UInt64]) throws {
        var bench = Bench()
        bench.on(.submit(job()))
        join(&bench, 1, credit: 1)
        let offer = try #require(bench.offers().first)
        bench.on(.commit(1, offer.token, .plan(plan(tiles))))
        let id = try #require(bench.scheduler.jobIDs.last)
        #expect(bench.scheduler.batches(of: id).map(\.state) == [.backoff])
        #expect(bench.scheduler.batches(of: id).first?.trouble?.cause == "bad-counts")
    }

    @Test func neitherAShardForAPlanNorAPlanForTilesIsTaken() throws {
        var bench = Bench()
        bench.on(.submit(job()))
        join(&bench, 1, credit: 3)
        let first = try #require(bench.offers().first)
        bench.finish(first, by: 1)
        bench.pass(130_000)
        bench.on(.ready(1, credit: 3))
        let second = try #require(bench.offers().first)
        bench.on(.commit(1, second.token, .plan(plan([1_000, 1_000]))))
        let part = try #require(bench.offers().first)
        bench.on(.commit(1, part.token, .plan(plan([1_000]))))
        let id = try #require(bench.scheduler.jobIDs.last)
        #expect(bench.scheduler.batches(of: id).map(\.state).prefix(2) == [.split, .backoff])
    }

    @Test func aWorkerOfAnOlderBuildGetsNoPart() throws {
        var bench = Bench()
        var submission = job()
        submission = JobSubmission(
            requestID: "", priority: 0, weight: 1, allowedMissing: 0, batches: submission.batches,
            packages: submission.packages,
            origin: JobOrigin(name: "h", limits: OriginLimits(perSecond: nil, concurrency: 8, bytesPerSecond: nil)))
        bench.on(.submit(submission))
        join(&bench, 1, credit: 1, plans: false)
        #expect(bench.offers().isEmpty)
        let id = try #require(bench.scheduler.jobIDs.last)
        #expect(bench.scheduler.stallReason(of: id, now: bench.now).contains("older build"))
        join(&bench, 2, credit: 1)
        #expect(bench.offers(to: 2).count == 1)
        #expect(bench.scheduler.stallReason(of: id, now: bench.now) == "")
    }

    @Test func aPartThatFailsIsHalvedUntilItsTileIsAlone() throws {
        var bench = Bench()
        bench.on(.submit(job()))
        join(&bench, 1, credit: 1)
        bench.on(.commit(1, try #require(bench.offers().first).token, .plan(plan([1_993, 7]))))
        let id = try #require(bench.scheduler.jobIDs.last)
        let bad: UInt64 = 1_997
        for _ in 0..<200 {
            bench.pass(130_000)
            bench.on(.ready(1, credit: 1))
            for offer in bench.offers(to: 1) {
                guard case .fetch(_, _, _, let tiles) = offer.work, let first = offer.plan?.first else { continue }
                if (UInt64(first)..<UInt64(first) + tiles).contains(bad) {
                    bench.on(
                        .fail(1, offer.token, Trouble(cause: "bad-mvt", detail: "x"), retriable: true))
                } else {
                    bench.finish(offer, by: 1, seed: UInt64(first))
                }
            }
        }
        #expect(bench.cuts.isEmpty)
        let batches = bench.scheduler.batches(of: id)
        let hasEnded = try bench.summary(id).state.isFinal
        #expect(batches.filter { $0.state == .dead }.map(\.tiles) == [1] || hasEnded)
        #expect(try bench.summary(id).counts.failed == 1)
        #expect(try bench.summary(id).counts.stored == Self.tiles - 1)
    }

    @Test func packagesWaitForTheirPartsOnly() throws {
        var bench = Bench()
        bench.on(.submit(job(packages: 2)))
        join(&bench, 1, credit: 3)
        var result = plan([1_500, 500])
        result.served = [[0], [1]]
        bench.on(.commit(1, try #require(bench.offers().first).token, .plan(result)))
        let id = try #require(bench.scheduler.jobIDs.last)
        let parts = bench.offers()
        bench.finish(parts[0], by: 1, seed: 1)
        #expect(bench.scheduler.packages(of: id).map(\.state) == [.manifest, .waiting])
        bench.finish(parts[1], by: 1, seed: 2)
        #expect(bench.scheduler.packages(of: id).map(\.state) == [.manifest, .manifest])
    }

    @Test func rolesHaveCodes() {
        let roles: [BatchRole] = [.cell, .plan, .part(of: 0, first: 0), .part(of: 7, first: .max)]
        for role in roles { #expect(BatchRole(code: role.code) == role) }
        #expect(BatchRole(code: 2) == nil && BatchRole(code: .max) == nil)
        #expect(Set(roles.map(\.code)).count == roles.count)
    }

    @Test func aLargeJobIsPlannedInCellsAndASmallOneNotAtAll() throws {
        let whole = try #require(ZoomRange(min: 0, max: 14))
        let full = TileMask(full: 14).restricted(to: try #require(TileID(zoom: 4, x: 8, y: 5)))
        let large = BatchPlanner(mask: full, zooms: whole, cut: .planned)
        let batches = Array(large.batches())
        #expect(batches.reduce(0) { $0 + $1.tiles } == large.tiles && batches.count > 1)
        #expect(batches.allSatisfy { $0.role == .plan && $0.tiles <= BatchPlanner.largestPlan })
        let small = full.restricted(to: try #require(TileID(zoom: 9, x: 8 << 5, y: 5 << 5)))
        let one = BatchPlanner(mask: small, zooms: whole, cut: .planned)
        #expect(Array(one.batches()).map(\.cell) == [.root])
        let least = BatchPlanner(mask: small, zooms: try #require(ZoomRange(min: 0, max: 12)), cut: .planned)
        #expect(least.batches().allSatisfy { $0.role == .cell })
    }
}
