import Blobs
import Digests
import Errors
import Foundation
import PMTiles
import TestSupport
import Testing
import TileBodies
import Tiles
import Tilesets
import Wire

@testable import Worker

/// Leases that plan the ranges of an archive, and those that are parts of a plan.
@Suite(.timeLimit(.minutes(15)))
struct RangeLeaseTests {
    /// The first three zooms but for one tile.
    private static func archive(_ letter: UInt8 = 0x61) -> [UInt8] {
        var entries: [PMTilesDirectory.Entry] = []
        var data: [UInt8] = []
        for id: UInt64 in 0..<21 where id != 7 {
            let body = Gzip.compress([0x1A, 0x08, 0x0A, 0x02, letter, 0x41 + UInt8(id), 0x78, 0x02, 0x28, 0x40])
            entries.append(.init(tile: id, run: 1, length: UInt64(body.count), offset: UInt64(data.count)))
            data += body
        }
        let root = PMTilesDirectory(entries: entries).encoded
        var header = PMTilesHeader()
        header.root = .init(offset: 127, length: UInt64(root.count))
        header.tiles = .init(offset: header.root.end, length: UInt64(data.count))
        (header.metadata, header.leaves) = (.init(offset: 127, length: 0), .init(offset: 127, length: 0))
        (header.internalCompression, header.tileCompression, header.maxZoom) = (1, 2, 2)
        header.format = .mvt
        return header.encoded + root + data
    }

    private struct Place {
        let stable: Stable
        let server: RangeServer
        var whole: PBOffer

        init() throws {
            stable = try Stable()
            server = try RangeServer(RangeLeaseTests.archive())
            whole = try stable.offer(1, "http://127.0.0.1:9")
            let text = "{id: a, url: '\(server.url)', format: pbf, zoom: 0-2}"
            whole.fetch.tileset = Data(
                try TilesetFile(text: text, name: "a.yaml", folder: URL(filePath: "/")).resolved().canonicalJSON)
        }

        func end() {
            server.stop()
            stable.remove()
        }

        func run(_ offer: PBOffer) async -> WorkOutcome {
            await LeaseRunner(store: stable.store, environment: [:]).run(offer, WorkMeter())
        }

        func plan() async throws -> PBFetchResult {
            var offer = whole
            offer.fetch.toPlan = true
            guard case .done(let commit) = await run(offer) else { throw WorkFailure.changed(to: "no plan") }
            return commit.fetch
        }

        func part(_ plan: PBFetchResult, first: UInt32, tiles: UInt64) -> PBOffer {
            var offer = whole
            offer.fetch.tiles = tiles
            offer.fetch.part = .make {
                $0.plan = plan.shard
                $0.first = first
                $0.cell = PBTile(.root)
                $0.zoomMax = 2
                $0.tiles = 21
            }
            return offer
        }
    }

    @Test func twoPartsMakeThePackageOfTheWhole() async throws {
        let place = try Place()
        defer { place.end() }
        let plan = try await place.plan()
        #expect(plan.parts.tiles.reduce(0, +) == 21 && plan.stored == 0 && !plan.sourceVersion.isEmpty)
        #expect(try await place.plan() == plan, "the same plan by another worker")
        var shards: [Data] = []
        for (first, tiles) in [(UInt32(0), UInt64(13)), (13, 8)] {
            guard case .done(let commit) = await place.run(place.part(plan, first: first, tiles: tiles)) else {
                Issue.record("part \(first) failed")
                return
            }
            #expect(commit.fetch.stored + commit.fetch.empty == tiles)
            shards.append(commit.fetch.shard)
        }
        guard case .done(let whole) = await place.run(place.whole),
            case .done(let merged) = await place.run(try place.stable.merge(shards, of: place.whole.fetch)),
            case .done(let expected) = await place.run(
                try place.stable.merge([whole.fetch.shard], of: place.whole.fetch))
        else {
            Issue.record("the whole or a merge failed")
            return
        }
        #expect(merged.merge.package == expected.merge.package && merged.merge.tiles == 20)
    }

    @Test(arguments: [true, false])
    func aPlanThatIsLostOrDamagedIsMadeOnceMore(_ isLost: Bool) async throws {
        let place = try Place()
        defer { place.end() }
        let plan = try await place.plan()
        let digest = try #require(Digest(bytes: plan.shard))
        let file = try #require(try place.stable.store.url(of: digest))
        if isLost {
            try FileManager.default.removeItem(at: file)
        } else {
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            try Data(repeating: 7, count: 100).write(to: file)
        }
        guard case .done(let commit) = await place.run(place.part(plan, first: 5, tiles: 3)) else {
            Issue.record("the part failed")
            return
        }
        #expect(commit.fetch.stored == 3)
    }

    @Test func aPartOutsideOfItsCellIsRefused() async throws {
        let place = try Place()
        defer { place.end() }
        let plan = try await place.plan()
        var offer = place.part(plan, first: 0, tiles: 21)
        offer.fetch.cell = PBTile(try #require(TileID(zoom: 1, x: 0, y: 0)))
        guard case .failed(let failure) = await place.run(offer) else {
            Issue.record("the part was taken")
            return
        }
        #expect(failure.cause == .badBatch && !failure.retriable)
    }

    @Test func anArchiveThatWasReplacedEndsTheJob() async throws {
        let place = try Place()
        defer { place.end() }
        let plan = try await place.plan()
        place.server.replace(with: Self.archive(0x62))
        var offer = place.part(plan, first: 0, tiles: 21)
        offer.fetch.sourceVersion = plan.sourceVersion
        guard case .failed(let failure) = await place.run(offer) else {
            Issue.record("tiles of two versions")
            return
        }
        #expect(failure.cause == .sourceChanged)
    }
}
