import Foundation
import OfflineMaps
import TestSupport
import TileBodies
import Tiles

extension MapWorld {
    /// The data of a tile that was found: `data 1`; `nil` for other answers.
    static func data(_ answer: TileAnswer) throws -> String? {
        guard case .found(let tile) = answer else { return nil }
        return try data(of: tile.body)
    }

    /// The data of a body that ``TinyMap`` made.
    static func data(of body: Data) throws -> String {
        let bytes = [UInt8](body)
        let plain = bytes.starts(with: [0x1F, 0x8B]) ? try BodyCoding.gzip.unpack(bytes, limit: 1 << 20) : bytes
        // The layer: its tag, its length, then field 1 with its length and the text.
        let start = plain.dropFirst(1).firstIndex { $0 < 0x80 }.map { $0 + 1 } ?? 0
        let text = plain.dropFirst(start + 2).prefix(Int(plain[start + 1]))
        return String(decoding: text, as: UTF8.self).split(separator: " ").prefix(2).joined(separator: " ")
    }

    /// The data of a tile of a store.
    static func data(_ store: MapStore, _ tile: TileID, _ edition: Edition = Edition()) throws -> String? {
        try data(try store.tiles.tile(tile, of: nil, edition))
    }

    /// A tile of the shared cell, of the east of Estonia, of the south of Latvia.
    static let sharedTile = TinyMap.tile(8, 36 * 4 + 1, 18 * 4 + 2)
    static let eastTile = TinyMap.tile(8, 37 * 4 + 1, 18 * 4 + 2)
    static let southTile = TinyMap.tile(8, 36 * 4 + 1, 19 * 4 + 2)

    /// A rectangle inside one tile of zoom 8 of the shared cell.
    static var box: BoundingBox {
        get throws {
            let bounds = sharedTile.bounds
            let (width, height) = (bounds.east - bounds.west, bounds.north - bounds.south)
            return try BoundingBox(
                west: bounds.west + width / 4, south: bounds.south + height / 4, east: bounds.east - width / 4,
                north: bounds.north - height / 4)
        }
    }

    /// A region of the catalog's tileset: one rectangle, all zooms.
    static var region: RegionDefinition {
        get throws { RegionDefinition(.box(try box), zooms: TinyMap.zooms, sources: [.tileset("demo")]) }
    }

    /// The place in the middle of a tile.
    static func place(_ tile: TileID) -> Coordinate {
        let bounds = tile.bounds
        return Coordinate(
            longitude: (bounds.west + bounds.east) / 2, latitude: (bounds.south + bounds.north) / 2)
    }

    /// Waits until the server was asked for an address that contains a text.
    func asked(_ text: String) async throws {
        try await Eventually.holds("a request of '\(text)'", every: .milliseconds(5)) { !server.requests(text).isEmpty }
    }

    /// Waits until the part of a task that was received has a size.
    static func received(_ fraction: Double, of id: TaskID, _ store: MapStore) async {
        let events = store.events
        let now = try? await store.tasks().first { $0.id == id }
        if let now, now.progress.fraction >= fraction { return }
        for await event in events {
            if case .task(let task) = event, task.id == id, task.progress.fraction >= fraction { return }
        }
    }
}
