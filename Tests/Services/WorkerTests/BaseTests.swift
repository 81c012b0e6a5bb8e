import Blobs
import Digests
import Foundation
import Shards
import Synchronization
import TestSupport
import Testing
import Tiles
import Tilesets
import Wire

@testable import Worker

/// A batch of which an earlier build has the tiles: the origin is asked what has changed, and sends no more than that.
@Suite(.timeLimit(.minutes(15)))
struct BaseTests {
    /// An origin whose tiles have versions; a tile without one is not there.
    final class Versions: Sendable {
        private let versions = Mutex<[String: Int]>([:])
        let hasValidators: Bool
        init(validators: Bool = true) { hasValidators = validators }

        func set(_ path: String, _ version: Int) { versions.withLock { $0[path] = version } }

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            let version = versions.withLock { $0[request.path] ?? 1 }
            guard version > 0, request.path != "/2/3/3.pbf" || version > 1 else { return .reply(404) }
            let tag = "\"\(request.path)-\(version)\""
            let headers = hasValidators ? [("ETag", tag)] : []
            if hasValidators, request.headers["if-none-match"] == tag { return .reply(304, headers: headers) }
            return .reply(200, headers: headers, body: Self.tile("\(request.path) \(version)"))
        }

        /// A vector tile of one point in a layer of that name.
        static func tile(_ name: String) -> [UInt8] {
            let feature: [UInt8] = [0x18, 1, 0x22, 3, 9, 50, 34]
            let name = Array(name.utf8)
            let layer =
                [0x0A, UInt8(name.count)] + name + [0x12, UInt8(feature.count)] + feature + [0x28, 0x80, 0x20, 0x78, 2]
            return [0x1A, UInt8(layer.count)] + layer
        }
    }

    private func commit(_ stable: Stable, _ offer: PBOffer) async throws -> PBFetchResult {
        let meter = WorkMeter()
        let outcome = await LeaseRunner(store: stable.store, environment: [:]).run(offer, meter)
        guard case .done(let commit) = outcome else {
            Issue.record("\(outcome)")
            throw CancellationError()
        }
        #expect(meter.counters.done == offer.fetch.tiles)
        return commit.fetch
    }

    private func file(_ stable: Stable, _ shard: Data) throws -> URL {
        let digest = try #require(Digest(bytes: shard))
        return try #require(try stable.store.url(of: digest))
    }

    /// Runs `body` with an origin, a store and the offer of 21 tiles; 20 are there at first.
    private func with(
        _ versions: Versions = Versions(), _ body: (Stable, ScriptedServer, PBOffer) async throws -> Void
    ) async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try ScriptedServer { versions.answer($0) }
        defer { origin.stop() }
        var offer = try stable.offer(1, origin.url)
        let text = "id: test\nurl: \(origin.url)/{z}/{x}/{y}.pbf\nformat: pbf\nzoom: 0-2\n"
        offer.fetch.tileset = Data(
            try TilesetFile(text: text, name: "t.yaml", folder: stable.folder).resolved().canonicalJSON)
        try await body(stable, origin, offer)
    }

    @Test func nothingNewIsTheSameShardWithoutABody() async throws {
        try await with { stable, origin, offer in
            var offer = offer
            let first = try await commit(stable, offer)
            #expect(first.notModified == 0 && first.received == 20 * UInt64(Versions.tile("/2/0/0.pbf 1").count))
            offer.fetch.base = [first.shard]
            let second = try await commit(stable, offer)
            #expect(second.shard == first.shard && second.shardBytes == first.shardBytes)
            #expect((second.stored, second.empty, second.failed) == (20, 1, 0))
            #expect((second.distinct, second.bodyBytes) == (first.distinct, first.bodyBytes))
            #expect((second.notModified, second.received, second.reused) == (20, 0, 0))
            #expect(origin.requests.count == 42, "what was empty is asked again")
            #expect(try FileManager.default.contentsOfDirectory(atPath: stable.folder.path + "/tmp").isEmpty)
        }
    }

    @Test func onlyWhatChangedIsSent() async throws {
        let versions = Versions()
        try await with(versions) { stable, _, offer in
            var offer = offer
            let first = try await commit(stable, offer)
            offer.fetch.base = [first.shard]
            versions.set("/1/0/1.pbf", 2)
            versions.set("/2/0/0.pbf", 0)
            versions.set("/2/3/3.pbf", 2)
            let second = try await commit(stable, offer)
            #expect(second.shard != first.shard)
            #expect((second.stored, second.empty, second.notModified) == (20, 1, 18))
            #expect(second.received == UInt64(2 * Versions.tile("/2/0/0.pbf 1").count))
            offer.fetch.base = []
            let fresh = try ShardReader(file(stable, try await commit(stable, offer).shard))
            let made = try ShardReader(file(stable, second.shard))
            #expect(made.entries.map(\.tile) == fresh.entries.map(\.tile))
            #expect(made.entries.map(\.etag) == fresh.entries.map(\.etag))
            #expect(try made.entries.map { try made.body($0) } == fresh.entries.map { try fresh.body($0) })
        }
    }

    /// The list has 1/0/1, and with it 0/0/0 above it; everything else is taken as it was.
    @Test func onlyListedTilesAreAsked() async throws {
        let versions = Versions()
        try await with(versions) { stable, origin, offer in
            var offer = offer
            let first = try await commit(stable, offer)
            let before = origin.requests.count
            for path in ["/1/0/1.pbf", "/2/0/0.pbf", "/2/3/3.pbf"] { versions.set(path, 2) }
            offer.fetch.base = [first.shard]
            let listed = try #require(TileID("1/0/1"))
            offer.fetch.changed = Data(TileMask(tiles: [listed], maxZoom: 2).encoded())
            let second = try await commit(stable, offer)
            #expect(Set(origin.requests.dropFirst(before).map(\.path)) == ["/0/0/0.pbf", "/1/0/1.pbf"])
            #expect((second.stored, second.empty, second.failed) == (20, 1, 0))
            #expect((second.notModified, second.reused) == (1, 19))
            let (old, new) = (try ShardReader(file(stable, first.shard)), try ShardReader(file(stable, second.shard)))
            for (one, other) in zip(old.entries, new.entries) {
                #expect(one.tile == other.tile && (one.body?.digest == other.body?.digest) == (one.tile != listed))
            }
            // Nothing is kept of the tiles below 1/1/1: they are asked for.
            let all = origin.requests.count
            offer.fetch.base = []
            let third = try await commit(stable, offer)
            #expect(origin.requests.count == all + 21 && third.reused == 0)
            // With an empty list and everything kept, nothing is asked, and the shard is the same.
            offer.fetch.base = [third.shard]
            offer.fetch.changed = Data(TileMask(empty: 2).encoded())
            let fourth = try await commit(stable, offer)
            #expect(origin.requests.count == all + 21)
            #expect(fourth.shard == third.shard && fourth.reused == 21 && fourth.received == 0)
        }
    }

    @Test func anOriginWithoutValidatorsSendsAllAndNothingIsNew() async throws {
        try await with(Versions(validators: false)) { stable, origin, offer in
            var offer = offer
            let first = try await commit(stable, offer)
            offer.fetch.base = [first.shard]
            let second = try await commit(stable, offer)
            #expect(second.shard == first.shard)
            #expect(second.notModified == 0 && second.received == first.received)
            #expect(origin.requests.allSatisfy { $0.headers["if-none-match"] == nil })
        }
    }

    @Test func aDamagedBaseCostsItsBodiesAndNothingElse() async throws {
        try await with { stable, _, offer in
            var offer = offer
            let first = try await commit(stable, offer)
            let file = try file(stable, first.shard)
            let whole = try ShardReader(file)
            var bytes = try Data(contentsOf: file)
            // One byte inside the group of bodies; header, index and footer stay whole, so that the tiles are asked for conditionally.
            bytes[60] ^= 0x55
            try bytes.write(to: file)
            offer.fetch.base = [first.shard]
            let second = try await commit(stable, offer)
            #expect((second.stored, second.empty, second.failed) == (20, 1, 0))
            #expect(second.notModified < 20 && second.received > 0)
            let made = try ShardReader(try self.file(stable, second.shard))
            #expect(made.entries.map(\.etag) == whole.entries.map(\.etag))
            for entry in made.entries { #expect(try made.body(entry)?.isEmpty != true) }
        }
    }

    @Test func sourcesThatAgreeWithTheBaseChangeNothing() async throws {
        try await with { stable, origin, offer in
            var offer = offer
            let first = try await commit(stable, offer)
            var bottom = offer
            (bottom.fetch.zoomMin, bottom.fetch.tiles) = (2, 16)
            let part = try await commit(stable, bottom)
            let asked = origin.requests.count
            offer.fetch.base = [first.shard]
            offer.fetch.sources = [part.shard]
            let second = try await commit(stable, offer)
            #expect(second.shard == first.shard)
            #expect((second.reused, second.notModified) == (16, 5))
            #expect(origin.requests.count == asked + 5)
        }
    }

    @Test func aBaseOfOtherCellsHelpsToo() async throws {
        try await with { stable, _, offer in
            var offer = offer
            var top = offer
            (top.fetch.zoomMax, top.fetch.tiles) = (1, 5)
            let part = try await commit(stable, top)
            offer.fetch.base = [Rig.digest, part.shard]
            let whole = try await commit(stable, offer)
            #expect((whole.stored, whole.empty, whole.notModified) == (20, 1, 5))
            #expect(whole.shard != part.shard)
        }
    }
}
