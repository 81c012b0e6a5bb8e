// Takes the tiles round some places along, and reads them where there is no network.
//
//   Trip load TEMPLATE FOLDER     downloads: TEMPLATE is https://tiles.example.com/{z}/{x}/{y}.png
//   Trip show TEMPLATE FOLDER     says for each place which tile a map would get, without a network

import Foundation
import OfflineMaps
import Tiles

@main
struct Trip {
    /// Where the trip goes, as longitude and latitude.
    static let places = [
        Coordinate(longitude: -120.33, latitude: 50.67),
        Coordinate(longitude: -119.49, latitude: 49.89),
    ]
    /// Everything within this distance of a place.
    static let meters = 2_000.0
    /// Not deeper than needed.
    static let zooms = ZoomRange(min: 5, max: 12)

    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 4, ["load", "show"].contains(words[1]), let zooms else {
            print("usage: Trip load|show TEMPLATE FOLDER")
            exit(64)
        }
        let store = try await MapStore.open(
            StoreOptions(folder: URL(fileURLWithPath: words[3]), trust: .unsigned))
        var server = OnlineSource(id: "trip", template: words[2])
        server.timeout = .seconds(3)
        do {
            if words[1] == "load" {
                try await load(store, server, zooms)
            } else {
                try await show(store, server, zooms)
            }
        } catch let error as StoreError {
            print(error.message, error.advice ?? "")
            exit(1)
        }
    }

    /// Downloads the tiles round the places; what is there is not asked for again.
    static func load(_ store: MapStore, _ server: OnlineSource, _ zooms: ZoomRange) async throws {
        let region = RegionDefinition(
            .around(places, meters: meters), zooms: zooms, sources: [.online(server)])
        let estimate = try await store.estimate(region)
        print("\(estimate.tiles) tiles, about \(estimate.transfer / 1_000) kB")
        try await store.addRegion("trip", region)
        try await store.start()
        var rule = TaskRule()
        rule.failsWithoutNetwork = true
        let task = try await store.load("trip", rule)
        for await progress in store.progress(of: task) {
            print("\(Int(progress.fraction * 100)) %, \(progress.tiles.completed) of \(progress.tiles.required) tiles")
        }
        await store.stop()
        guard let info = try await store.region("trip") else { return }
        print("the region is \(info.state.rawValue)")
        for one in info.failed { print("\(one.count) x \(one.what): \(one.cause?.rawValue ?? "not tried")") }
    }

    /// What a map view would get: the tile of the store, or a part of a tile above it, which the view enlarges.
    static func show(_ store: MapStore, _ server: OnlineSource, _ zooms: ZoomRange) async throws {
        await store.forceOffline(true)
        for place in places {
            guard let tile = TileID(at: place, zoom: zooms.max) else { continue }
            switch try store.tiles.tile(tile, of: server.id) {
            case .found(let found): print("\(tile): \(found.body.count) bytes, \(found.mediaType)")
            case .empty: print("\(tile): the server has nothing there")
            case .absent:
                let above = try store.tiles.nearest(tile, of: server.id)
                print("\(tile): not here; the map shows \(above.map { "\($0.id)" } ?? "nothing")")
            }
        }
        // The question before the trip: is all of it on the device?
        let isReady = store.tiles.isCovered(.around(places, meters: meters), zooms)
        print(isReady ? "all tiles are here" : "some tiles are missing")
    }
}
