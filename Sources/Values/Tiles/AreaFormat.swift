import Errors
internal import TextFormats

/// A format of files with an area.
///
/// A new format is a row of ``all``, and its reading: options, lists of packages, imported regions and the coordinator know it then.
package struct AreaFormat: Sendable {
    /// The key in a list of packages, and what the record of a job says: `geojson`.
    package let kind: String
    /// For messages.
    package let name: String
    /// What the names of its files end in, lower case.
    package let endings: [String]
    /// Whether an area is all that lies within a distance of its points.
    package let takesRadius: Bool
    /// Reads a file; UTF-16 is read as UTF-8 is.
    package let features: @Sendable ([UInt8]) throws(TilesError) -> [AreaFeature]

    /// All formats.
    package static let all = [
        AreaFormat(
            kind: "geojson", name: "GeoJSON", endings: ["geojson", "json"], takesRadius: false,
            read: AreaFeature.features(geoJSON:)),
        AreaFormat(
            kind: "points", name: "a table of points", endings: ["csv", "tsv"], takesRadius: true,
            read: AreaFeature.features(table:)),
    ]

    /// The format of a key or of a job's kind.
    package init?(kind: String) {
        guard let found = Self.all.first(where: { $0.kind == kind }) else { return nil }
        self = found
    }

    /// The format that the name of a file ends in.
    package init?(path: String) {
        let ending = path.split(separator: ".").last?.lowercased()
        guard path.contains("."), let found = Self.all.first(where: { $0.endings.contains(ending ?? "") }) else {
            return nil
        }
        self = found
    }

    private init(
        kind: String, name: String, endings: [String], takesRadius: Bool,
        read: @escaping @Sendable ([UInt8]) throws(TilesError) -> [AreaFeature]
    ) {
        (self.kind, self.name, self.endings, self.takesRadius) = (kind, name, endings, takesRadius)
        self.features = { (bytes) throws(TilesError) in try read(UnicodeText.utf8(bytes)) }
    }

    /// All features of a file as one geometry.
    ///
    /// - Throws: ``TilesError`` `.badGeometry` that names the place in the file; also for a point or a whole shape outside of the map.
    package func geometry(of bytes: [UInt8]) throws(TilesError) -> Geometry {
        var all = Geometry()
        for feature in try features(bytes) {
            all.points += feature.geometry.points
            all.lines += feature.geometry.lines
            all.polygons += feature.geometry.polygons
        }
        if let point = all.points.first(where: { abs($0.latitude) > BoundingBox.maxLatitude }) {
            throw TilesError(
                .badGeometry, "the point [\(point.longitude), \(point.latitude)] \(BoundingBox.liesBeyond)")
        }
        guard !all.isEmpty else { throw TilesError(.badGeometry, "it contains no coordinates") }
        guard !TileMask(covering: MercatorShape(all), maxZoom: 0).isEmpty else {
            throw TilesError(.badGeometry, "the whole shape \(BoundingBox.liesBeyond)")
        }
        return all
    }
}

/// A part of a file with an area.
package struct AreaFeature: Sendable {
    /// Its properties; empty in formats without them.
    package var properties: [String: JSONText] = [:]
    /// Its shape; empty in a feature without one.
    package var geometry: Geometry
}

extension BoundingBox {
    /// The message for a place outside Web Mercator.
    package static let liesBeyond = "is outside the map: Web Mercator ends at 85.0511 degrees north and south"
}
