import Foundation
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// Regions of single tiles: what is asked for, and the packs that hold them.
@Suite(.timeLimit(.minutes(15)))
struct OnlinePlanTests {
    private let trip = Item.region("trip")

    /// A server with the tiles of four places at zoom 8 and what is above them, one of which it does not have.
    private func scratch() throws -> (PlanScratch, TileMask) {
        let scratch = try PlanScratch()
        let tiles = try ["8/144/74", "8/145/74", "8/144/75", "8/145/75"].map { try #require(TileID($0)) }
        let mask = TileMask(tiles: tiles, maxZoom: 8)
        for tile in mask.tiles(in: .all) where tile != tiles[3] {
            scratch.serve(TestMap.body("online", tile), at: "t/\(tile).pbf")
        }
        scratch.view.regions = [
            "trip": RegionDefinition(
                .mask(mask), zooms: try #require(ZoomRange(min: 5, max: 8)),
                sources: [.online(OnlineSource(id: "web", template: scratch.server.url + "/t/{z}/{x}/{y}.pbf"))])
        ]
        return (scratch, mask)
    }

    @Test func tilesFillPacksAndAreRead() async throws {
        let (scratch, mask) = try scratch()
        let plan = await scratch.plan(trip, kind: .load)
        // Zooms 5 to 8: one, one, one and four tiles; the bands 0-5 and 6-10.
        #expect(plan.onlineTiles == 7)
        #expect(plan.downloads.count { $0.isTile } == 7 && plan.downloads.count { $0.source == .filled } == 2)
        let outcome = try await scratch.run(plan)
        #expect(outcome.tileBytes.count { $0 == nil } == 1)
        let reader = TileReader(scratch.folder, outcome.units)
        for tile in mask.tiles(in: try #require(ZoomRange(min: 5, max: 8))) {
            switch try reader.tile(tile, of: "web") {
            case .found(let found): #expect(found.body == Data(TestMap.body("online", tile)))
            case .empty: #expect("\(tile)" == "8/145/75")
            case .absent: Issue.record("\(tile) is not there.")
            }
        }
        guard case .absent = try reader.tile(try #require(TileID("8/100/75"))) else {
            Issue.record("A tile outside of the region is claimed.")
            return
        }
        // The expiry is the server's.
        let expires = try #require(outcome.units.first?.expires)
        #expect((0..<3_700).contains(expires - Int64(Date().timeIntervalSince1970)))
    }

    @Test func aSecondLoadAsksForNothingAndARefreshForAll() async throws {
        let (scratch, _) = try scratch()
        try await scratch.run(await scratch.plan(trip, kind: .load))
        let requests = scratch.server.requests.count
        let again = await scratch.plan(trip, kind: .load)
        #expect(again.downloads.allSatisfy { $0.source == .filled } && again.onlineTiles == 7)
        try await scratch.run(again)
        #expect(scratch.server.requests.count == requests)
        // One tile changes; the others are not sent again.
        let changed = try #require(TileID("8/144/74"))
        scratch.serve(TestMap.body("newer", changed), at: "t/\(changed).pbf")
        let outcome = try await scratch.run(await scratch.plan(trip, kind: .refresh))
        #expect(scratch.server.requests.count == requests + 7)
        #expect(outcome.tileBytes.count { $0 != nil } == 1)
        let reader = TileReader(scratch.folder, Array(scratch.view.rows.files.values))
        for (text, tile) in [("newer", changed), ("online", try #require(TileID("8/145/74")))] {
            guard case .found(let found) = try reader.tile(tile, of: "web") else {
                Issue.record("\(tile) is not there.")
                continue
            }
            #expect(found.body == Data(TestMap.body(text, tile)))
        }
    }

    @Test func aNewProcessContinuesAPackThatIsBeingFilled() async throws {
        let (scratch, _) = try scratch()
        let plan = await scratch.plan(trip, kind: .load)
        let done = plan.downloads.filter(\.isTile).prefix(3)
        for download in done {
            let details = try #require(download.details)
            let body = try await scratch.fetcher.body(ResourceRequest(details.address, .tile), limit: 1 << 20)
            _ = try FileInstaller.fill(details, body, in: scratch.folder)
        }
        let next = await scratch.plan(trip, kind: .load)
        #expect(Set(next.downloads.map(\.file)) == Set(plan.downloads.map(\.file)).subtracting(done.map(\.file)))
        #expect(next.onlineTiles == 7)
        let outcome = try await scratch.run(next)
        #expect(outcome.tileBytes.count == 4)
        let first = try #require(TileID("8/144/74"))
        #expect(try TileReader(scratch.folder, outcome.units).tile(first).isFound)
    }

    @Test func aPageInPlaceOfATileIsNoTile() async throws {
        let (scratch, _) = try scratch()
        let plan = await scratch.plan(trip, kind: .load)
        let first = plan.downloads.first { $0.isTile }
        let download = try #require(first)
        let details = try #require(download.details)
        for text in ["<html>", "{\"error\":1}", "no"] {
            let page = FetchedBody(status: 200, body: Data(text.utf8))
            let error = #expect(throws: StoreError.self) { try FileInstaller.fill(details, page, in: scratch.folder) }
            #expect(error?.failure == .badBytes)
        }
        #expect(try FileInstaller.fill(details, FetchedBody(status: 204, body: Data()), in: scratch.folder) == nil)
    }

    @Test func tooManyTilesAreCountedAndNotListed() async throws {
        let (scratch, _) = try scratch()
        scratch.view.regions["trip"]?.area = .mask(TileMask(full: 14))
        scratch.view.regions["trip"]?.zooms = try #require(ZoomRange(min: 0, max: 14))
        let plan = await scratch.plan(trip, kind: .load)
        #expect(plan.onlineTiles == 357_913_941 && plan.downloads.isEmpty)
        #expect(scratch.server.requests.isEmpty)
    }

    @Test func addressesOfTilesFollowTheTemplate() async throws {
        let (scratch, _) = try scratch()
        func addresses(_ template: String, isTMS: Bool = false, ratio: Double = 1) async throws -> [String] {
            var source = OnlineSource(id: "web", template: scratch.server.url + template)
            (source.isTMS, source.headers, source.zooms) = (isTMS, ["X-Key": "k"], ZoomRange(min: 5, max: 5))
            scratch.view.regions["trip"]?.sources = [.online(source)]
            scratch.view.regions["trip"]?.pixelRatio = ratio
            let plan = await scratch.plan(trip, kind: .load)
            #expect(
                plan.downloads.compactMap(\.details).allSatisfy {
                    $0.headers["X-Key"] == "k" && $0.limits?.parallel == 8
                })
            return plan.downloads.filter(\.isTile).compactMap { $0.details?.address.path }
        }
        #expect(try await addresses("/{z}/{x}/{y}{ratio}.png") == ["/5/18/9.png"])
        #expect(try await addresses("/{z}/{x}/{y}{ratio}.png", ratio: 2) == ["/5/18/9@2x.png"])
        #expect(try await addresses("/{z}/{x}/{y}.png", isTMS: true) == ["/5/18/22.png"])
        #expect(try await addresses("/{z}/{x}/{-y}.png") == ["/5/18/22.png"])
        for template in ["{z}/{x}", "ftp://a.example/{z}/{x}/{y}", "{quadkey}"] {
            scratch.view.regions["trip"]?.sources = [.online(OnlineSource(id: "web", template: template))]
            #expect(await scratch.plan(trip, kind: .load).answer == .failed(.invalidArguments))
        }
    }
}

extension TileAnswer {
    var isFound: Bool { if case .found = self { true } else { false } }
}
