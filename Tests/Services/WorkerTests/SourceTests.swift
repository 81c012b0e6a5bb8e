import Blobs
import Digests
import Foundation
import Shards
import TestSupport
import Testing
import Tiles
import Wire

@testable import Transfer
@testable import Worker

/// A batch takes from other shards what they hold and asks the origin for the rest.
@Suite(.timeLimit(.minutes(15)))
struct SourceTests {
    private func commit(
        _ stable: Stable, _ offer: PBOffer, _ budgets: WorkerBudgets = WorkerBudgets()
    ) async throws -> PBFetchResult {
        let meter = WorkMeter()
        let outcome = await LeaseRunner(store: stable.store, environment: [:], budgets: budgets).run(offer, meter)
        guard case .done(let commit) = outcome else {
            Issue.record("\(outcome)")
            throw CancellationError()
        }
        #expect(meter.counters.done == offer.fetch.tiles)
        return commit.fetch
    }

    private func file(_ stable: Stable, _ shard: Data) throws -> URL {
        let digest = try #require(Digest(bytes: shard))
        let found = try stable.store.url(of: digest)
        return try #require(found)
    }

    /// Zooms 0 and 1 of the offer, or only 2.
    private func part(_ whole: PBOffer, top: Bool) -> PBOffer {
        var part = whole
        if top {
            (part.fetch.zoomMax, part.fetch.tiles) = (1, 5)
        } else {
            (part.fetch.zoomMin, part.fetch.tiles) = (2, 16)
        }
        return part
    }

    @Test func whatSourcesHoldIsNotAskedForAgain() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        var whole = try stable.offer(1, origin.url)
        let direct = try await commit(stable, whole)
        let bottom = try await commit(stable, part(whole, top: false))
        let before = origin.requests.count
        whole.fetch.sources = [bottom.shard]
        let mixed = try await commit(stable, whole)
        #expect(mixed.reused == 16, "stored and empty tiles")
        #expect(origin.requests.count == before + 5)
        #expect((mixed.stored, mixed.empty, mixed.failed) == (direct.stored, direct.empty, direct.failed))
        let top = try await commit(stable, part(whole, top: true))
        whole.fetch.sources = [top.shard, mixed.shard, bottom.shard]
        let asked = origin.requests.count
        let all = try await commit(stable, whole)
        #expect(all.reused == 21)
        #expect(origin.requests.count == asked)
        let reader = try ShardReader(file(stable, all.shard))
        let first = try ShardReader(file(stable, direct.shard))
        #expect(reader.entries.map(\.tile) == first.entries.map(\.tile))
        #expect(try reader.entries.map { try reader.body($0) } == first.entries.map { try first.body($0) })
        #expect(reader.entries.map(\.etag) == first.entries.map(\.etag))
    }

    @Test func whatAnEarlierAttemptLackedIsNoSignOfAnOutage() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try ScriptedServer { request in
            request.path == "/1/1/1.png"
                ? .reply(500) : .reply(200, headers: [("Content-Type", "image/png")], body: Stable.png)
        }
        defer { origin.stop() }
        let budgets = WorkerBudgets()
        budgets.sent(1)
        budgets.apply(
            [
                .make {
                    $0.origin = "o"
                    $0.concurrency = 4
                    $0.ttlMs = 600_000
                    $0.round = 1
                }
            ], re: 1)
        var offer = part(try stable.offer(1, origin.url), top: true)
        offer.fetch.origin = "o"
        let first = try await commit(stable, offer, budgets)
        #expect((first.stored, first.failed) == (4, 1))
        offer.fetch.sources = [first.shard]
        for (isPartial, faults) in [(false, true), (true, false)] {
            offer.fetch.partialFirst = isPartial
            let before = budgets.budget("o").use
            let result = try await commit(stable, offer, budgets)
            let use = budgets.budget("o").use
            #expect((result.reused, result.failed) == (4, 1))
            #expect(use.requests > before.requests && (use.failed > before.failed) == faults)
            #expect(
                use.answered == before.answered + (isPartial ? 1 : 0), "a tile that was there shows how the origin is")
        }
        // A source that cannot be read says nothing of the tiles that it would have.
        offer.fetch.sources = [Rig.digest, first.shard]
        let before = budgets.budget("o").use.failed
        _ = try await commit(stable, offer, budgets)
        #expect(budgets.budget("o").use.failed > before)
    }

    @Test func aSourceThatIsGoneDamagedOrOfAnotherTilesetIsLeft() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        var whole = try stable.offer(1, origin.url)
        let damaged = try await commit(stable, part(whole, top: false)).shard
        let file = try file(stable, damaged)
        var bytes = try Data(contentsOf: file)
        for index in 60..<bytes.count { bytes[index] ^= 0x55 }
        try bytes.write(to: file)
        let foreign = stable.folder.appendingPathComponent("foreign")
        let zooms = try #require(ZoomRange(min: 0, max: 2))
        let writer = try ShardWriter(
            temporary: foreign, header: ShardHeader(tileset: "else", cell: .root, zooms: zooms))
        try writer.addEmpty(.root)
        let summary = try writer.finish()
        try await stable.store.put(foreign, digest: summary.digest)
        whole.fetch.sources = [Rig.digest, damaged, Data(summary.digest.bytes)]
        let before = origin.requests.count
        let result = try await commit(stable, whole)
        #expect((result.reused, result.stored, result.empty) == (0, 20, 1))
        #expect(origin.requests.count == before + 21)
    }
}
