import Foundation
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// Regions that get another area, other zooms or another source, and regions over one place.
@Suite(.timeLimit(.minutes(15)))
struct RegionChangeTests {
    private let site: StoreSite

    init() throws {
        site = try StoreSite()
    }

    private func tile(_ text: String) throws -> TileID { try #require(TileID(text)) }

    private func definition(
        _ tiles: [String], _ first: Int, _ last: Int, _ source: SourceDescriptor
    ) throws -> RegionDefinition {
        let zooms = try #require(ZoomRange(min: first, max: last))
        return RegionDefinition(
            .mask(TileMask(tiles: try tiles.map(tile), maxZoom: last)), zooms: zooms, sources: [source])
    }

    private func server(_ folder: String = "t", id: String = "web") -> SourceDescriptor {
        .online(OnlineSource(id: id, template: site.server.url + "/\(folder)/{z}/{x}/{y}.pbf"))
    }

    /// Puts the tiles of a region on the server.
    private func serve(_ region: RegionDefinition, folder: String = "t", text: String = "online") {
        for tile in region.area.cover(toZoom: region.zooms.max).tiles(in: region.zooms) {
            site.serve(TestMap.body(text, tile), at: "\(folder)/\(tile).pbf")
        }
    }

    private func load(_ id: RegionID, _ region: RegionDefinition, _ store: MapStore) async throws {
        try await store.addRegion(id, region)
        #expect(try await store.states { [try await $0.load(id)] } == [.done])
        #expect(try await store.region(id)?.state == .complete)
    }

    /// The sum of the files of packs on the disk.
    private var packBytes: UInt64 { StoreScan.bytes(below: site.scratch.folder.packs) }
    private var packFiles: [String] { StoreScan.packs(site.scratch.folder) }

    private func text(_ id: String, _ store: MapStore, of tileset: String = "web") throws -> Data? {
        guard case .found(let found) = try store.tiles.tile(try tile(id), of: tileset) else { return nil }
        return found.body
    }

    @Test(arguments: ["template", "name", "box", "zooms"]) func whatAChangedRegionHadGoes(_ change: String) async throws
    {
        let old = try definition(["9/288/148", "9/289/148"], 6, 9, server())
        let new =
            switch change {
            case "template": try definition(["9/288/148", "9/289/148"], 6, 9, server("u"))
            case "name": try definition(["9/288/148", "9/289/148"], 6, 9, server("u", id: "u"))
            case "box": try definition(["9/100/148"], 6, 9, server())
            default: try definition(["9/288/148", "9/289/148"], 3, 4, server())
            }
        serve(old)
        serve(new, folder: change == "template" || change == "name" ? "u" : "t", text: "new")
        let store = try await site.store { $0.catalog = nil }
        try await load("trip", old, store)
        try await load("trip", new, store)
        await store.stop()
        let usage = try await store.usage()
        #expect(try await store.region("trip")?.bytes == usage.packs && usage.packs == packBytes)
        #expect(usage.packCount == 1 && packFiles.count == 1)
        #expect(usage.onlineTiles == new.area.cover(toZoom: new.zooms.max).count(in: new.zooms))
        let name = change == "name" ? "u" : "web"
        let last = new.area.cover(toZoom: new.zooms.max).tiles(in: new.zooms).first { $0.zoom == new.zooms.max }
        let shown = try #require(last)
        #expect(try text("\(shown)", store, of: name) == Data(TestMap.body("new", shown)))
        if change == "box" || change == "zooms" { #expect(try text("9/288/148", store) == nil) }
    }

    @Test func aSmallerBoxInOnePackLeavesTheOtherTiles() async throws {
        let wide = try definition((0..<40).map { "9/\(260 + $0)/148" }, 9, 9, server())
        let small = try definition(["9/288/148"], 9, 9, server())
        serve(wide)
        let store = try await site.store { $0.catalog = nil }
        try await load("trip", wide, store)
        let (before, requests) = (packBytes, site.requests.count)
        try await load("trip", small, store)
        await store.stop()
        #expect(site.requests.count == requests, "what stays is not asked for again")
        #expect(packBytes < before && packFiles.count == 1)
        #expect(try text("9/288/148", store) != nil && text("9/289/148", store) == nil)
    }

    @Test func aRegionOfPacksThatMovesLeavesItsOldOnesAndOthersKeepTheirs() async throws {
        try site.add("EE", cell: (5, 18, 9), depth: 4, withPacks: true)
        try site.publish()
        let store = try await site.store()
        try await store.refreshCatalog()
        try await load("trip", try definition(["9/289/149"], 7, 9, .tileset("demo")), store)
        try await load("all", try definition(["9/289/149"], 0, 9, .tileset("demo")), store)
        #expect(try await store.usage().packCount == 2)
        // Without the zooms above.
        try await load("all", try definition(["9/300/150"], 7, 9, .tileset("demo")), store)
        await store.stop()
        #expect(try await store.usage().packCount == 2 && packFiles.count == 2)
        #expect(try store.tiles.tile(try tile("9/289/149"), of: "demo").isFound, "trip has it")
        #expect(try !store.tiles.tile(try tile("0/0/0"), of: "demo").isFound)
        try await store.start()
        #expect(try await store.states { try await $0.remove([.region("trip")]) } == [.done])
        await store.stop()
        #expect(try await store.usage().packCount == 1 && packFiles.count == 1)
    }

    @Test func twoRegionsOverOnePlaceAskForEachTileOnceAndKeepItOnce() async throws {
        let left = try definition(["9/288/148", "9/289/148"], 6, 9, server())
        let right = try definition(["9/289/148", "9/290/148"], 6, 9, server())
        serve(left)
        serve(right)
        let store = try await site.store { $0.catalog = nil }
        try await store.addRegion("left", left)
        try await store.addRegion("right", right)
        // Both at once: the second one waits for the tiles of the first.
        #expect(try await store.states { [try await $0.load("left"), try await $0.load("right")] } == [.done, .done])
        let wanted = Set(site.requests)
        #expect(site.requests.count == wanted.count, "no tile was asked for twice")
        let both = TileMask(tiles: try ["9/288/148", "9/289/148", "9/290/148"].map(tile), maxZoom: 9)
        #expect(wanted.count == Int(both.count(in: left.zooms)))
        for id in ["left", "right"] { #expect(try await store.region(RegionID(id))?.state == .complete) }
        // Each tile is in one file.
        let known = packFiles.map { FilledPack.known(site.scratch.url.appending(path: $0)).count }
        #expect(known.reduce(0, +) == wanted.count)

        // A region that is there and asks again: nothing.
        #expect(try await store.states { [try await $0.load("right")] } == [.done])
        #expect(site.requests.count == wanted.count)
        // What the removed region alone needed goes with the other one.
        #expect(try await store.states { try await $0.remove([.region("left")]) } == [.done])
        for shown in ["9/289/148", "9/290/148", "6/36/18"] { #expect(try text(shown, store) != nil, "\(shown)") }
        #expect(try await store.region("right")?.state == .complete)
        #expect(try await store.states { try await $0.remove([.region("right")]) } == [.done])
        await store.stop()
        #expect(try await store.usage().total == 0 && packFiles.isEmpty)
    }

    @Test func aRegionWithMoreZoomsUsesWhatItHas() async throws {
        let short = try definition(["9/288/148"], 6, 8, server())
        let long = try definition(["9/288/148"], 6, 9, server())
        serve(long)
        let store = try await site.store { $0.catalog = nil }
        try await load("trip", short, store)
        let requests = site.requests.count
        try await load("trip", long, store)
        #expect(site.requests.count == requests + 1)
        for shown in ["6/36/18", "8/144/74", "9/288/148"] { #expect(try text(shown, store) != nil, "\(shown)") }
    }

    /// The owner of a shared pack gets a smaller area: the other region does not lose its tiles.
    @Test func aChangeOfOneRegionLeavesTheTilesOfAnother() async throws {
        let first = try definition(["9/288/148", "9/289/148"], 9, 9, server())
        let second = try definition(["9/289/148"], 9, 9, server())
        serve(first)
        let store = try await site.store { $0.catalog = nil }
        try await load("first", first, store)
        try await load("second", second, store)
        try await load("first", try definition(["9/288/148"], 9, 9, server()), store)
        #expect(site.requests.count == 2)
        #expect(try text("9/289/148", store) != nil)
        serve(try definition(["9/291/148"], 9, 9, server()))
        try await load("first", try definition(["9/288/148", "9/291/148"], 9, 9, server()), store)
        #expect(try text("9/289/148", store) != nil && text("9/291/148", store) != nil)
        #expect(site.requests.count == 3)
    }

    @Test func whatTheServerAnsweredIsCounted() async throws {
        let region = try definition(["9/288/148", "9/289/148"], 9, 9, server())
        serve(try definition(["9/288/148"], 9, 9, server()))
        site.answer(410, at: "t/9/289/148.pbf")
        let store = try await site.store { $0.catalog = nil }
        try await load("trip", region, store)
        #expect(try await store.tileAnswers(of: "trip") == [200: 1, 410: 1])
        // A tile server does not list the layers of its tiles; TileJSON 3.0.0 would require them.
        let body = try #require(store.resources.tileJSON(of: "web", at: "http://a/{z}/{x}/{y}"))
        #expect(String(decoding: body, as: UTF8.self).contains(#""tilejson":"2.2.0""#))
        let none = try definition(["9/100/148", "9/101/148", "9/102/148"], 9, 9, server())
        try await load("sea", none, store)
        #expect(try await store.tileAnswers(of: "sea") == [404: 3])
        await #expect(throws: StoreError.self) { try await store.tileAnswers(of: "no") }
    }
}
