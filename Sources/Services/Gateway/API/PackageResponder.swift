internal import CatalogFormat
internal import Digests
internal import HummingbirdCore
internal import Tiles
internal import WebRequests

/// Answers with packages of the catalog: which hold a place, and what an update costs.
enum PackageResponder {
    private struct View: Encodable {
        let id: String
        let edition: String
        let version: Int32
        let names: [String: String]
        let tileset: String?
        let minZoom: Int
        let maxZoom: Int
        let size: Int64
        /// Absent for a package in parts, as `url`: each part has its own.
        var sha256: String?
        var url: String?
        let tilejson: String
        let dataDate: String?
        /// What a device with the version of `from` fetches: `up-to-date`, `patch` or `whole`; absent without `from`.
        var plan: String?
        var planBytes: Int64?
        /// Which part of a package it is; absent for a whole one.
        var part: CatalogPart?
        /// The parts of a package in parts.
        var parts: [View]?
    }

    static func packages(_ routed: RoutedRequest) throws(Problem) -> Response {
        let snapshot = try routed.services.watch.snapshot
        let path = routed.path
        let group = path.parameter("group").flatMap { $0.isEmpty ? nil : $0 }
        let language = path.parameter("language").flatMap { $0.isEmpty ? nil : $0 }
        let editions = snapshot.index.editions.filter {
            (group == nil || $0.group == group) && (language == nil || $0.language == language)
        }.map(\.path)
        let place = try path.parameter("at").map { (text) throws(Problem) in try Self.place(text) }
        let text = path.parameter("q")?.lowercased()
        let found = snapshot.index.packages.filter { package in
            guard editions.contains(package.edition) else { return false }
            guard let text else { return true }
            return package.id.lowercased().contains(text)
                || package.names.values.contains { $0.lowercased().contains(text) }
        }.compactMap { package -> (View, MapVersion)? in
            guard let map = snapshot.maps.versions(.newest(id: package.id), edition: package.edition).first else {
                return nil
            }
            return (view(map), map)
        }.filter { _, map in
            guard let place else { return true }
            return TileID(at: place, zoom: map.zooms.max).map(map.claims) ?? false
        }
        // The smallest first for a place, the order of the catalog otherwise.
        let views = (place == nil ? found : found.sorted { $0.0.size < $1.0.size }).map(\.0)
        return APIResponder.json(["packages": views])
    }

    static func package(_ routed: RoutedRequest) throws(Problem) -> Response {
        let snapshot = try routed.services.watch.snapshot
        let edition = try TileRequest.edition(routed.path)
        let id = routed["package"]
        let maps = snapshot.maps.maps(.newest(id: id), edition: edition)
        guard let map = maps.first else {
            throw Problem(.notFound, "The catalog has no package '\(id.prefix(60))'.")
        }
        guard maps.count == 1 else { return APIResponder.json(view(ofParts: maps, first: map)) }
        var view = view(map)
        if let from = try routed.number("from", 1...Int(Int32.max)), let file = map.version.files.first {
            let patch = map.version.patch(from: Int32(from), file.format)
            (view.plan, view.planBytes) =
                if Int32(from) == map.version.version {
                    ("up-to-date", 0)
                } else if let patch, PatchRule.pays(patch: patch.size, whole: file.size) {
                    ("patch", patch.size)
                } else {
                    ("whole", file.size)
                }
        }
        return APIResponder.json(view)
    }

    private static func view(_ map: MapVersion) -> View {
        let query = map.package.edition.isEmpty ? "" : "?edition=\(map.package.edition)"
        return View(
            id: map.package.id, edition: map.package.edition, version: map.version.version, names: map.package.names,
            tileset: map.version.tileset, minZoom: map.zooms.min, maxZoom: map.zooms.max,
            size: Int64(map.main.size), sha256: map.main.digest.hex, url: "/\(map.main.path)",
            tilejson: "/tiles/\(map.name).json\(query)", dataDate: map.version.dataDate, part: map.package.part)
    }

    /// A package in parts as one: the sizes together, and each part with its file.
    private static func view(ofParts parts: [MapVersion], first: MapVersion) -> View {
        let query = first.package.edition.isEmpty ? "" : "?edition=\(first.package.edition)"
        return View(
            id: first.package.part?.of ?? first.package.id, edition: first.package.edition,
            version: first.version.version, names: first.package.names, tileset: first.version.tileset,
            minZoom: parts.map(\.zooms.min).min() ?? 0, maxZoom: parts.map(\.zooms.max).max() ?? 0,
            size: parts.reduce(0) { sum, part in
                let (more, isTooLarge) = sum.addingReportingOverflow(Int64(clamping: part.main.size))
                return isTooLarge ? .max : more
            },
            tilejson: "/tiles/\(first.wholeName).json\(query)", dataDate: first.version.dataDate,
            parts: parts.map { view($0) })
    }

    /// Longitude and latitude.
    private static func place(_ text: String) throws(Problem) -> Coordinate {
        let numbers = text.split(separator: ",").compactMap { Double($0) }
        guard numbers.count == 2, -180...180 ~= numbers[0], -90...90 ~= numbers[1] else {
            throw Problem(.badParameter, "at has two numbers: longitude and latitude in degrees.")
        }
        return Coordinate(longitude: numbers[0], latitude: numbers[1])
    }
}
