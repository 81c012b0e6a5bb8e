import CatalogFormat
import Files
import Foundation
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// Plans of tile packs and of regions that consist of them.
@Suite(.timeLimit(.minutes(15)))
struct RegionPlanTests {
    private func tile(_ text: String) throws -> TileID { try #require(TileID(text)) }

    private func region(
        _ tiles: [String], zooms: ZoomRange, _ sources: [SourceDescriptor] = [.tileset("demo")]
    ) throws -> RegionDefinition {
        let deepest = try tiles.map(tile)
        return RegionDefinition(
            .mask(TileMask(tiles: deepest, maxZoom: zooms.max)), zooms: zooms, sources: sources)
    }

    private func zooms(_ first: Int, _ last: Int) throws -> ZoomRange { try #require(ZoomRange(min: first, max: last)) }

    @Test func allPacksOfAPackageAreInstalledAndRead() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE", depth: 2, withPacks: true)
        let plan = await scratch.plan(.packs("EE"))
        // Bands 0-5 and 6-10 of one cell.
        #expect(plan.downloads.count == 2 && plan.downloads.allSatisfy { $0.isPack && $0.holder == .packs("EE") })
        let outcome = try await scratch.run(plan)
        #expect(outcome.verified == [true, true])
        let reader = TileReader(scratch.folder, outcome.units)
        for place in try [tile("0/0/0"), tile("7/72/37"), tile("9/288/148")] {
            guard case .found(let found) = try reader.tile(place, of: "demo") else {
                Issue.record("\(place) is not there.")
                continue
            }
            #expect(found.body == Data(TestMap.body("EE 1", place)))
        }
    }

    @Test func regionsShareAWholePackAndNotAPart() async throws {
        let scratch = try PlanScratch()
        // One cell of zoom 6, whole, in both packages: the band 6-8 of it is the same file.
        try scratch.offer("A", cell: (6, 36, 18), text: "same", withPacks: true)
        try scratch.offer("B", cell: (6, 36, 18), text: "same", withPacks: true)
        let (first, second) = (await scratch.plan(.packs("A")), await scratch.plan(.packs("B")))
        let shared = Set(first.downloads.map(\.file)).intersection(second.downloads.map(\.file))
        #expect(shared.map(\.key.name) == ["pack|demo|6/36/18|6-8|-|-|-"])
        try await scratch.run(first)
        let requests = scratch.server.requests.count
        try await scratch.run(second)
        // Only the part of the band 0-5 that belongs to B.
        #expect(scratch.server.requests.count == requests + 1)
        let key = try #require(shared.first).key
        #expect(scratch.view.rows.holders(of: key).count == 2)
    }

    @Test func aPackOfAnOlderListDoesNotReplaceANewerOne() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("A", version: 1, cell: (6, 36, 18), withPacks: true)
        try scratch.offer("B", version: 2, cell: (6, 36, 18), withPacks: true)
        try await scratch.run(await scratch.plan(.packs("A")))
        // The list of B is newer: its state of the shared pack takes the place.
        try await scratch.run(await scratch.plan(.packs("B")))
        let name = "pack|demo|6/36/18|6-8|-|-|-"
        let newest = try #require(scratch.view.rows.current(InstalledFileKey(name: name, isPack: true))?.id)
        for item in [Item.packs("A"), .packs("B")] {
            let plan = await scratch.plan(item, kind: .update)
            #expect(plan.downloads.first { $0.file.key.name == name }?.file == newest)
            #expect(plan.downloads.allSatisfy { scratch.view.rows.files[$0.file]?.state == .current })
        }
        // A task for both has one state of it.
        let both = await scratch.plan(.packs("A"), .packs("B"), kind: .update)
        #expect(Set(both.downloads.map(\.file).filter { $0.key.name == name }) == [newest])
        let fresh = try PlanScratch()
        try fresh.offer("A", version: 1, cell: (6, 36, 18), withPacks: true)
        try fresh.offer("B", version: 2, cell: (6, 36, 18), withPacks: true)
        let first = await fresh.plan(.packs("B"), .packs("A"))
        #expect(Set(first.downloads.map(\.file).filter { $0.key.name == name }) == [newest])
    }

    @Test func aRegionTakesOnlyThePacksThatItMeets() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE", cell: (5, 18, 9), depth: 4, withPacks: true)
        scratch.view.regions = ["trip": try region(["9/289/149"], zooms: try zooms(7, 9))]
        let plan = await scratch.plan(.region("trip"), kind: .load)
        #expect(plan.downloads.map(\.file.key.name) == ["pack|demo|6/36/18|6-9|-|-|-"])
        #expect(plan.needs["trip"]?.units == ["pack|demo|6/36/18|6-9|-|-|-"])
        let outcome = try await scratch.run(plan)
        let reader = TileReader(scratch.folder, outcome.units)
        #expect(reader.isCovered(.mask(TileMask(tiles: [try tile("9/289/149")], maxZoom: 9)), try zooms(7, 9)))
    }

    @Test func fewPackagesCoverARegion() throws {
        let packs = CatalogContent.Download(
            format: "packs", url: "regions/x.json", size: 1, sha256: CatalogSample.digest)
        func offer(_ id: String, _ tiles: [String], _ tileset: String? = "demo") throws -> CatalogContent.Offer {
            CatalogContent.Offer(
                id: id, names: [:], version: 1,
                mask: TileMask(tiles: try tiles.map(tile), maxZoom: 5).expanded(toZoom: 8),
                tileset: tileset, files: [], patches: [], packs: packs)
        }
        var content = CatalogContent()
        content.offers = [
            try offer("a", ["5/1/1"]), try offer("b", ["5/2/1"]), try offer("both", ["5/1/1", "5/2/1"]),
            try offer("world", ["5/1/1", "5/2/1", "5/3/1", "5/4/1"]), try offer("other", ["5/1/1", "5/2/1"], "x"),
        ]
        func choose(_ tiles: [String]) throws -> [String] {
            PackageChoice.packages(
                of: "demo", Edition(), in: content, covering: TileMask(tiles: try tiles.map(tile), maxZoom: 8),
                hasPacks: true
            ).offers.map(\.id)
        }
        #expect(try choose(["8/8/8"]) == ["a"])
        #expect(try choose(["8/8/8", "8/16/8"]) == ["both"])
        #expect(try choose(["8/8/8", "8/24/8"]) == ["world"])
        #expect(try choose(["8/200/200"]) == [])
        content.offers.removeAll { $0.id == "world" || $0.id == "both" }
        #expect(try choose(["8/8/8", "8/16/8", "8/200/200"]).sorted() == ["a", "b"])
        // A package without packs is of no use, however small it is.
        content.offers.append(try offer("whole", ["5/1/1"]))
        content.offers[content.offers.count - 1].packs = nil
        #expect(try choose(["8/8/8"]) == ["a"])
    }

    @Test func whatOnlyAPackageWithoutPacksHasIsNamed() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE", cell: (6, 36, 18), depth: 2, withPacks: true)
        try scratch.offer("FI", cell: (6, 40, 18), depth: 2)
        scratch.view.regions = ["trip": try region(["8/145/73", "8/161/73"], zooms: try zooms(6, 8))]
        let plan = await scratch.plan(.region("trip"), kind: .load)
        #expect(plan.downloads.count == 1)
        #expect(plan.needs["trip"]?.missing == [Missing("FI", cause: .notInCatalog)])
    }

    @Test func whatTheCatalogLacksIsRefusedWithoutADownload() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE")
        scratch.view.regions = [
            "whole": try region(["9/288/148"], zooms: try zooms(7, 9)),
            "far": try region(["9/1/1"], zooms: try zooms(7, 9)),
            "nothing": RegionDefinition(.mask(TileMask(empty: 5)), zooms: .all, sources: [.tileset("demo")]),
            "sourceless": try region(["9/288/148"], zooms: try zooms(7, 9), []),
        ]
        for (id, cause) in [
            ("whole", FailureCause.notInCatalog), ("far", .notInCatalog), ("nothing", .invalidArguments),
            ("sourceless", .invalidArguments), ("unknown", .invalidArguments),
        ] {
            #expect(await scratch.plan(.region(RegionID(id)), kind: .load).answer == .failed(cause))
        }
        #expect(scratch.server.requests.isEmpty)
    }

    @Test func hostileListsOfPacksAreRefused() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE", withPacks: true)
        let good = String(decoding: try #require(scratch.body(at: "regions/EE.json")), as: UTF8.self)
        func list(_ text: String) -> TilePackList? {
            // The reason is checked by TilePackListTests.
            try? TilePackList(decoding: Array(text.utf8), named: "regions/EE.json")
        }
        #expect(list(good)?.packs.count == 2)
        func changed(_ old: String, _ new: String) -> String {
            #expect(good.contains(old))
            return good.replacingOccurrences(of: old, with: new)
        }
        for bad in [
            changed("../packs/", "../../packs/"), changed("../packs/", "../packs/../../"),
            changed("../packs/", "https://b.example/packs/"), changed("\"min_zoom\" : 0", "\"min_zoom\" : -1"),
            changed("\"max_zoom\" : 5", "\"max_zoom\" : 99"), changed("\"index\" : \"0/0/0\"", "\"index\" : \"0/1/0\""),
            changed("\"index\" : \"0/0/0\"", "\"index\" : \"7/0/0\""), changed("\"size\" : ", "\"size\" : -"),
            changed("\"sha256\" : \"", "\"sha256\" : \"z"), changed("\"mbtiles\"", "\"exe\""), "[]", "",
            "{\"packs\":[]}",
        ] {
            #expect(list(bad) == nil, "\(bad.prefix(300))")
        }
        // Another list than the catalog names.
        scratch.serve(Array(changed("\"size\" : ", "\"size\" :  ").utf8), at: "regions/EE.json")
        #expect(await scratch.plan(.packs("EE")).answer == .failed(.badBytes))
        scratch.answer(503, at: "regions/EE.json")
        #expect(await scratch.plan(.packs("EE")).answer == .fault(.status(503, retryAfter: nil)))
    }

    @Test func expiredPacksAreKeptWhenTheTaskAcceptsThem() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE", withPacks: true)
        scratch.view.regions = ["trip": try region(["9/288/148"], zooms: try zooms(6, 9))]
        try await scratch.run(await scratch.plan(.region("trip"), kind: .load))
        let before = Set(scratch.view.rows.files.keys)
        try scratch.offer("EE", version: 2, withPacks: true)
        var rule = TaskRule()
        #expect(Set(await scratch.plan(.region("trip"), kind: .load, rule: rule).downloads.map(\.file)) != before)
        rule.acceptExpired = true
        #expect(Set(await scratch.plan(.region("trip"), kind: .load, rule: rule).downloads.map(\.file)) == before)
    }

    @Test func whatIsNearTheStartComesFirst() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE", cell: (4, 9, 4), depth: 4, withPacks: true)
        scratch.view.regions = ["trip": try region(["8/144/64", "8/159/79"], zooms: try zooms(7, 8))]
        var rule = TaskRule()
        for wanted in ["6/36/16", "6/39/19"] {
            let bounds = try tile(wanted).bounds
            rule.startAt = Coordinate(longitude: bounds.west + 1, latitude: bounds.north - 1)
            let first = try #require(await scratch.plan(.region("trip"), kind: .load, rule: rule).downloads.first)
            #expect(first.file.key.name.contains("|\(wanted)|"))
        }
    }
}
