import Blobs
import Digests
import Errors
import Foundation
import Shards
import TestSupport
import Testing
import Tiles
import Tilesets
import Wire

@testable import Worker

/// Leases over an archive with a list of its blocks.
@Suite(.timeLimit(.minutes(15)))
struct BlockListLeaseTests {
    private static let tiles: UInt64 = 341

    private struct Place {
        let stable: Stable
        let server: BuildServer

        init() throws {
            stable = try Stable()
            server = try BuildServer()
        }

        func end() {
            server.stop()
            stable.remove()
        }

        /// Plans the whole archive and fetches it as one part.
        func build(_ name: String, base: [Data] = []) async throws -> (plan: PBFetchResult, part: PBFetchResult) {
            var offer = try stable.offer(1, server.url)
            let text = "{id: planet, url: '\(server.url)/\(name).pmtiles', format: pbf, zoom: 0-4, sync: true}"
            offer.fetch.tileset = Data(
                try TilesetFile(text: text, name: "a.yaml", folder: URL(filePath: "/")).resolved().canonicalJSON)
            offer.fetch.mask = Data(TileMask(full: 4).encoded())
            (offer.fetch.zoomMax, offer.fetch.tiles) = (4, BlockListLeaseTests.tiles)
            offer.fetch.toPlan = true
            let plan = try await run(offer)
            offer.fetch.toPlan = false
            offer.fetch.base = base
            offer.fetch.part = .make {
                $0.plan = plan.shard
                $0.cell = PBTile(.root)
                $0.zoomMax = 4
                $0.tiles = BlockListLeaseTests.tiles
            }
            return (plan, try await run(offer))
        }

        private func run(_ offer: PBOffer) async throws -> PBFetchResult {
            switch await LeaseRunner(store: stable.store, environment: [:]).run(offer, WorkMeter()) {
            case .done(let commit): return commit.fetch
            case .failed(let failure): throw failure
            case .cancelled: throw CancellationError()
            }
        }
    }

    @Test func aBuildWithTheSameBlocksIsTheSameShardWithoutABody() async throws {
        let place = try Place()
        defer { place.end() }
        let archive = BlockArchive(zoom: 4) { _ in 0 }
        for name in ["a", "b"] {
            place.server.put("/\(name).pmtiles", archive.bytes)
            place.server.put("/\(name).pmtiles.sync", archive.list(blockSize: 4_000))
        }
        let first = try await place.build("a")
        #expect(first.plan.blockList.hasPrefix("used: ") && first.part.blockList.isEmpty)
        let second = try await place.build("b", base: [first.part.shard])
        #expect(second.part.shard == first.part.shard && second.part.received == 0)
        #expect(second.part.notModified == Self.tiles && second.part.receivedAgain == 0)
        #expect(second.part.notSent == UInt64(archive.entries.reduce(0) { $0 + $1.body.count }))
    }

    @Test func aListThatTheBytesRefuteIsGivenUpWithinTheLease() async throws {
        let place = try Place()
        defer { place.end() }
        let archive = BlockArchive(zoom: 4) { $0 % 50 == 3 ? 1 : 0 }
        let old = BlockArchive(zoom: 4) { _ in 0 }
        place.server.put("/a.pmtiles", old.bytes)
        place.server.put("/a.pmtiles.sync", old.list(blockSize: 4_000))
        let first = try await place.build("a")
        // The second block is none of the samples.
        place.server.put("/b.pmtiles", archive.bytes)
        place.server.put("/b.pmtiles.sync", archive.list(blockSize: 4_000, wrong: [1]))
        let second = try await place.build("b", base: [first.part.shard])
        #expect(second.plan.blockList.hasPrefix("used: "))
        #expect(second.part.blockList.hasPrefix("not used: "), "\(second.part.blockList)")
        #expect(second.part.stored == Self.tiles && second.part.notSent == 0)
        #expect(second.part.receivedAgain > 0 && second.part.receivedAgain < second.part.received)
        let plain = try await place.build("b")
        let digest = { (shard: Data) in try #require(Digest(bytes: shard)) }
        let (made, fresh) = try (
            ShardReader(try #require(try place.stable.store.url(of: digest(second.part.shard)))),
            ShardReader(try #require(try place.stable.store.url(of: digest(plain.part.shard))))
        )
        #expect(try made.entries.map { try made.body($0) } == fresh.entries.map { try fresh.body($0) })
        let files = try FileManager.default.contentsOfDirectory(atPath: place.stable.folder.path + "/tmp")
        #expect(files.isEmpty, "\(files)")
    }
}
