import Errors
import Foundation
package import Tiles

/// A format of files with an area.
///
/// A new format is a row of ``all``, and its reading: options, lists of packages, imported regions and the coordinator know it then.
package struct AreaFormat: Sendable {
    /// What the record of a job says: `geojson`.
    package let kind: String
    /// For messages.
    package let name: String
    /// What the names of its files end in, lower case; only for messages, and where the content says nothing.
    package let endings: [String]
    /// Whether an area is all that lies within a distance of its points.
    package let takesRadius: Bool
    /// Whether a program that may be absent reads it: `ogr2ogr`.
    package let needsProgram: Bool
    /// Whether a file that begins so has this format; the first row that says so is taken.
    let begins: @Sendable (AreaStart) -> Bool
    let reading: @Sendable (AreaInput, inout AreaSink) throws(AreaFileError) -> Void

    /// All formats.
    package static let all = [
        AreaFormat(
            kind: "gpx", name: "GPX", endings: ["gpx"], begins: { $0.root == "gpx" }, reading: GPXReader.read),
        AreaFormat(
            kind: "kml", name: "KML", endings: ["kml"],
            begins: { ["kml", "Document", "Folder", "Placemark"].contains($0.root) },
            reading: KMLReader.read),
        AreaFormat(
            kind: "geojsonseq", name: "a GeoJSON sequence", endings: ["geojsonl", "geojsons", "ndjson", "jsonl"],
            begins: {
                $0.first == 0x1E || $0.first == UInt8(ascii: "{") && GeoJSONReader.isSequence($0.bytes)
                    || $0.first == UInt8(ascii: "{") && ["geojsonl", "geojsons", "ndjson", "jsonl"].contains($0.ending)
            }, reading: GeoJSONReader.sequence),
        AreaFormat(
            kind: "geojson", name: "GeoJSON", endings: ["geojson", "json"],
            begins: { $0.first == UInt8(ascii: "{") || $0.first == UInt8(ascii: "[") }, reading: GeoJSONReader.document),
        AreaFormat(
            kind: "shapefile", name: "a shapefile", endings: ["shp"], needsProgram: true,
            begins: { start in
                start.begins([0, 0, 0x27, 0x0A])
                    || start.begins([0x50, 0x4B, 3, 4]) && OGRReader.isZippedShapefile(start)
            },
            reading: { (input, sink) throws(AreaFileError) in try OGRReader.read(input, by: .shapefile, into: &sink) }),
        AreaFormat(
            kind: "kmz", name: "KMZ", endings: ["kmz"],
            begins: { $0.begins([0x50, 0x4B, 3, 4]) || $0.begins([0x50, 0x4B, 5, 6]) },
            reading: KMZReader.read),
        AreaFormat(
            kind: "geopackage", name: "a GeoPackage", endings: ["gpkg"], needsProgram: true,
            begins: { start in
                start.begins(Array("SQLite format 3\0".utf8))
                    && ["GPKG", "GP10", "GP11"].contains { start.begins(Array($0.utf8), at: 68) }
            },
            reading: { (input, sink) throws(AreaFileError) in try OGRReader.read(input, by: .geoPackage, into: &sink) }),
        AreaFormat(
            kind: "flatgeobuf", name: "FlatGeobuf", endings: ["fgb"], needsProgram: true,
            begins: { $0.begins([0x66, 0x67, 0x62]) && $0.begins([0x66, 0x67, 0x62], at: 4) },
            reading: { (input, sink) throws(AreaFileError) in try OGRReader.read(input, by: .flatGeobuf, into: &sink) }),
        AreaFormat(
            kind: "wkt", name: "well-known text", endings: ["wkt", "ewkt"],
            begins: { WKTReader.begins($0.bytes.prefix(4_096)) },
            reading: WKTReader.read),
        AreaFormat(
            kind: "poly", name: "a polygon filter file", endings: ["poly"], begins: \.isPoly, reading: PolyReader.read),
        AreaFormat(
            kind: "points", name: "a table of points", endings: ["csv", "tsv"], takesRadius: true, begins: \.isTable,
            reading: TableReader.read),
    ]

    /// The format of a job's kind.
    package init?(kind: String) {
        guard let found = Self.all.first(where: { $0.kind == kind }) else { return nil }
        self = found
    }

    /// The format of a file, by its content.
    ///
    /// - Throws: `.badArea` when it has none of them.
    package init(of input: AreaInput) throws(AreaFileError) {
        try input.beginText()
        let name = input.file?.lastPathComponent ?? ""
        let start = AreaStart(
            bytes: try input.ahead(AreaStart.size),
            ending: name.contains(".") ? name.split(separator: ".").last?.lowercased() ?? "" : "")
        guard !start.bytes.isEmpty else { throw AreaFileError(.badArea, "it is empty") }
        guard let found = Self.all.first(where: { $0.begins(start) }) else {
            let known = Self.all.map(\.name).joined(separator: ", ")
            let what =
                start.root.map { "it is XML with the root <\($0.prefix(60))>" } ?? "its content is of no known format"
            throw AreaFileError(.badArea, "\(what); expected \(known)")
        }
        self = found
    }

    private init(
        kind: String, name: String, endings: [String], takesRadius: Bool = false, needsProgram: Bool = false,
        begins: @escaping @Sendable (AreaStart) -> Bool,
        reading: @escaping @Sendable (AreaInput, inout AreaSink) throws(AreaFileError) -> Void
    ) {
        (self.kind, self.name, self.endings, self.takesRadius) = (kind, name, endings, takesRadius)
        self.needsProgram = needsProgram
        self.begins = begins
        self.reading = reading
    }

    /// Reads a file of this format whole.
    ///
    /// - Throws: ``AreaFileError`` that names the line or the feature, also for a file without a place on the map.
    package func read(_ input: AreaInput, _ wishes: AreaSink.Wishes = .init()) throws(AreaFileError) -> AreaSink {
        var sink = AreaSink(wishes)
        try reading(input, &sink)
        guard !wishes.features else { return sink }
        try Self.check(sink.shape, omitted: sink.omitted)
        return sink
    }

    /// All features of a file in memory as one geometry.
    ///
    /// - Throws: ``AreaFileError`` as ``read(_:_:)`` does.
    package func geometry(of bytes: [UInt8]) throws(AreaFileError) -> Geometry {
        let sink = try read(AreaInput(bytes: bytes), .init(features: true))
        var all = Geometry()
        for feature in sink.features {
            all.points += feature.geometry.points
            all.lines += feature.geometry.lines
            all.polygons += feature.geometry.polygons
        }
        try Self.check(AreaShape(all), omitted: 0)
        return all
    }

    private static func check(_ shape: AreaShape, omitted: Int) throws(AreaFileError) {
        guard !shape.isEmpty else {
            guard omitted == 0 else {
                throw AreaFileError(
                    .badArea, "it has no line and no polygon, only waypoints (\(omitted))", hint: "add --waypoints")
            }
            throw AreaFileError(.badArea, "it contains no coordinates")
        }
        guard !shape.mask(0).isEmpty else {
            throw AreaFileError(.badArea, "the whole shape \(BoundingBox.liesBeyond)")
        }
    }
}
