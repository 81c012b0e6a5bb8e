package import Errors
internal import Foundation
package import PMTiles
package import TileBodies
internal import Tiles

/// The metadata of a PMTiles file between its JSON object and the rows of an MBTiles file.
///
/// The values of the header (zooms, bounds, centre, format) are not repeated. Rows are members of type text; the
/// members of the row `json` (`vector_layers` and the like) are members themselves. So a conversion to PMTiles and back
/// gives the same rows.
package struct PMTilesMetadata {
    private var object: [String: Any]
    /// Why the metadata of a file could not be read; `nil` if they could.
    package private(set) var fault: String?

    /// Rows that are stored in the header, or that this format does not have.
    private static let elsewhere: Set<String> = [
        "format", "minzoom", "maxzoom", "bounds", "center", "json", "scheme", SQLiteSeal.name,
    ]

    /// Creates the metadata to write for these rows.
    package init(rows: [String: String]) {
        object = [SQLiteSeal.name: "trailer"]
        if let json = rows["json"], let members = Self.parse(Array(json.utf8)) {
            object.merge(members) { own, _ in own }
        }
        for (name, value) in rows where !Self.elsewhere.contains(name) { object[name] = value }
    }

    /// Reads the metadata of a file; such as are no JSON object count as none, because the tiles need them not.
    ///
    /// - Throws: ``ArchiveError`` `unreadable`.
    package init(reading file: PMTilesFile) throws(ArchiveError) {
        object = [:]
        let text: [UInt8]
        do throws(ArchiveError) { text = try file.metadata() } catch {
            guard error.code != .unreadable else { throw error }
            fault = error.message
            return
        }
        guard !text.isEmpty else { return }
        if let parsed = Self.parse(text) { object = parsed } else { fault = "it is not one JSON object" }
    }

    /// Whether a seal must be there.
    package var promisesSeal: Bool { object[SQLiteSeal.name] != nil }

    /// The array of vector layers, checked no further.
    package var vectorLayers: [[String: Any]]? { object["vector_layers"] as? [[String: Any]] }

    /// The hash of the tiles, when it is recorded.
    package var tilesHash: String? { object["agg_tiles_hash"] as? String }

    /// JSON text with sorted keys and no spaces.
    package func text() throws -> [UInt8] {
        [UInt8](
            try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes]))
    }

    /// The rows of an MBTiles file with this metadata and header.
    ///
    /// - Parameter format: What the bodies are; `nil` if it is not known.
    package func rows(_ header: PMTilesHeader, _ format: TileFormat?) -> [String: String] {
        var rows: [String: String] = [:]
        var members: [String: Any] = [:]
        for (name, value) in object where !Self.elsewhere.contains(name) {
            if let text = value as? String { rows[name] = text } else { members[name] = value }
        }
        if !members.isEmpty,
            // Members of JSON texts can be written as JSON again.
            let data = try? JSONSerialization.data(
                withJSONObject: members, options: [.sortedKeys, .withoutEscapingSlashes])
        {
            rows["json"] = String(decoding: data, as: UTF8.self)
        }
        rows["format"] = format?.rawValue
        rows["minzoom"] = "\(header.minZoom)"
        rows["maxzoom"] = "\(header.maxZoom)"
        if header.edges.contains(where: { $0 != 0 }) {
            rows["bounds"] = header.bounds.map(PackageMetadata.degrees).joined(separator: ",")
            let center = header.center.map { PackageMetadata.degrees(Double($0) / 1e7) }
            rows["center"] = (center + ["\(header.centerZoom)"]).joined(separator: ",")
        }
        return rows
    }

    private static func parse(_ text: [UInt8]) -> [String: Any]? {
        // Callers treat `nil` as metadata that is not a JSON object, and report that.
        (try? JSONSerialization.jsonObject(with: Data(text))) as? [String: Any]
    }
}

extension PMTilesHeader {
    /// Takes zooms, bounds and centre from the rows of an MBTiles file.
    package mutating func setPlace(from rows: [String: String]) {
        func numbers(_ name: String, _ count: Int) -> [Double]? {
            let numbers = (rows[name] ?? "").split(separator: ",", omittingEmptySubsequences: false).map {
                Double($0.trimmingCharacters(in: .whitespaces)) ?? .nan
            }
            return numbers.count == count && numbers.allSatisfy(\.isFinite) ? numbers : nil
        }
        func fixed(_ degrees: Double) -> Int32 { Int32((max(-200, min(200, degrees)) * 1e7).rounded()) }
        func zoom(_ value: Double) -> UInt8 { UInt8(max(0, min(Double(TileID.maxZoom), value))) }
        minZoom = zoom(rows["minzoom"].flatMap(Double.init) ?? 0)
        maxZoom = zoom(rows["maxzoom"].flatMap(Double.init) ?? 0)
        if let box = numbers("bounds", 4) {
            // Bounds of earlier packages run eastwards over longitude 180; readers know only west below east.
            edges = (box[0] > box[2] ? [-180, box[1], 180, box[3]] : box).map(fixed)
        }
        if let place = numbers("center", 3) {
            center = place.prefix(2).map(fixed)
            centerZoom = zoom(place[2])
        }
    }
}
