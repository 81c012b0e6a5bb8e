internal import Foundation
internal import GRDB
internal import SQLiteFiles
internal import TextFormats
internal import Tiles

/// The regions that a MapLibre database describes.
enum MapLibreRegions {
    /// More regions than these are not read.
    private static let maxRegions = 10_000

    /// Reads them; a region whose definition cannot be read is left out.
    ///
    /// - Throws: `bad-file`.
    static func read(_ file: URL) throws(StoreError) -> [AdoptedRegion] {
        let name = file.deletingPathExtension().lastPathComponent
        do {
            return try AnySQLiteFile.open(file).read { database in
                let rows = try Row.fetchAll(
                    database, sql: "SELECT id, definition, description FROM regions ORDER BY id LIMIT ?",
                    arguments: [maxRegions])
                return rows.compactMap { row in
                    guard let number = Int64.fromDatabaseValue(row[0]), let text = String.fromDatabaseValue(row[1]),
                        text.utf8.count <= 4 << 20, let definition = definition(Array(text.utf8))
                    else { return nil }
                    return AdoptedRegion(
                        id: RegionID("\(name)/\(number)"), definition: definition,
                        context: [UInt8](Data.fromDatabaseValue(row[2]) ?? Data()))
                }
            }
        } catch {
            throw StoreError.failing(.badFile, "The regions of '\(file.path)' cannot be read: \(error)", below: error)
        }
    }

    /// Reads a definition; `nil` for one that cannot be read.
    static func definition(_ json: [UInt8]) -> RegionDefinition? {
        guard case .object(let root)? = JSONValue(json: json), case .string(let style)? = root["style_url"],
            let url = URL(string: style), let area = area(root)
        else { return nil }
        func number(_ name: String) -> Double? {
            guard case .number(let value)? = root[name] else { return nil }
            return value
        }
        let last = Double(TileID.maxZoom)
        let low = min(last, max(0, number("min_zoom") ?? 0))
        let high = min(last, max(low, number("max_zoom") ?? last))
        guard let zooms = ZoomRange(min: Int(low), max: Int(high)) else { return nil }
        var definition = RegionDefinition(area, zooms: zooms, sources: [.style(url)])
        definition.pixelRatio = (number("pixel_ratio") ?? 1) > 1 ? 2 : 1
        definition.ideographs = root["include_ideographs"] == .bool(true)
        return definition
    }

    private static func area(_ root: [String: JSONValue]) -> Area? {
        if case .array(let edges)? = root["bounds"] {
            let numbers = edges.compactMap { if case .number(let value) = $0 { value } else { nil } }
            // South, west, north, east.
            guard numbers.count == 4,
                let box = try? BoundingBox(west: numbers[1], south: numbers[0], east: numbers[3], north: numbers[2])
            else { return nil }
            return .box(box)
        }
        // An invalid shape makes no region.
        guard let shape = root["geometry"], let bytes = try? JSONEncoder().encode(shape),
            let geometry = try? Geometry(geoJSON: [UInt8](bytes))
        else { return nil }
        return .geometry(geometry)
    }
}
