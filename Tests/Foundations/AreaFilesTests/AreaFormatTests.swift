import Errors
import Foundation
import Testing
import Tiles

@testable import AreaFiles

struct AreaFormatTests {
    @Test func everyKindAndEndingNamesOneFormat() {
        let all = AreaFormat.all
        #expect(Set(all.map(\.kind)).count == all.count)
        let endings = all.flatMap(\.endings)
        #expect(Set(endings).count == endings.count)
        for format in all { #expect(AreaFormat(kind: format.kind)?.kind == format.kind) }
        #expect(AreaFormat(kind: "bbox") == nil)
    }

    /// The beginning of a file, and the format that it has whatever its name is.
    @Test(arguments: [
        (#"{"type":"Point","coordinates":[1,2]}"#, "geojson"),
        ("\u{FEFF}  {\n\"type\": \"FeatureCollection\",\n\"features\": []\n}\n", "geojson"),
        (#"[1]"#, "geojson"),
        ("\u{1E}{\"type\":\"Point\",\"coordinates\":[1,2]}\n", "geojsonseq"),
        ("{\"type\":\"Point\",\"coordinates\":[1,2]}\n{\"type\":\"Point\",\"coordinates\":[1,\"}\"]}\n", "geojsonseq"),
        ("<?xml version=\"1.0\"?><!-- <kml> --><gpx/>", "gpx"), ("<x:gpx xmlns:x='a'/>", "gpx"),
        ("<kml xmlns=\"http://www.opengis.net/kml/2.2\"/>", "kml"), ("<Placemark/>", "kml"),
        ("PK\u{3}\u{4}....doc.kml", "kmz"), ("PK\u{3}\u{4}....a.shp", "shapefile"), ("\0\0\u{27}\n", "shapefile"),
        ("SQLite format 3\0" + String(repeating: "\0", count: 52) + "GPKG", "geopackage"),
        ("fgb\u{3}fgb\u{1}", "flatgeobuf"),
        ("POINT (1 2)", "wkt"), ("srid=4326;point(1 2)", "wkt"), ("MultiPolygon Z (((", "wkt"), ("POINT EMPTY", "wkt"),
        ("lake\n1\n 25.5 59.5\n 2.62E+01 59.5\n", "poly"), ("none\r\n\r\n!2\r\n\t1\t2\r\n", "poly"),
        ("lon,lat\n1,2\n", "points"), ("1;2\n3;4\n", "points"), ("lon\tlat\n1\t2\n3\t4\n", "points"),
        ("Points of mine,x,y\n1,2,3\n", "points"),
    ])
    func theContentTellsTheFormat(text: String, kind: String) throws {
        for name in ["a.geojson", "a.csv.bak", "a", "a.gpx"] {
            var left: [UInt8]? = Array(text.utf8)
            let input = AreaInput(file: URL(filePath: "/tmp/\(name)")) {
                defer { left = nil }
                return left ?? []
            }
            #expect(try AreaFormat(of: input).kind == kind, "\(name)")
        }
    }

    @Test(arguments: ["", "hello", "<html><body/></html>", "\u{89}PNG\r\n\u{1A}\n", "%PDF-1.4\n1 0 obj", "GIF89a"])
    func whatHasNoFormatIsRefusedWithTheKnownOnes(text: String) {
        let error = #expect(throws: AreaFileError.self) { try AreaFormat(of: AreaInput(bytes: Array(text.utf8))) }
        #expect(error?.code == .badArea)
        #expect(error?.message.contains("GPX") == true || text.isEmpty)
    }

    @Test func featuresOfACollectionKeepTheirProperties() throws {
        let text = #"""
            {"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"id":"EE"},"geometry":{"type":"Point","coordinates":[1,2]}},
            {"type":"Feature","properties":null,"geometry":null}]}
            """#
        let features = try AreaFeature.features(geoJSON: Array(text.utf8))
        #expect(features.count == 2)
        guard case .string("EE")? = features[0].properties["id"] else { return #expect(Bool(false)) }
        #expect(features[0].geometry.points == [Coordinate(longitude: 1, latitude: 2)])
        #expect(features[1].properties.isEmpty && features[1].geometry.isEmpty)
        let whole = try #require(AreaFormat(kind: "geojson")).geometry(of: Array(text.utf8))
        #expect(whole == (try Geometry(geoJSON: Array(text.utf8))))
    }

    @Test(arguments: [
        #"{"type":"Point","coordinates":[1,86]}"#, #"{"type":"FeatureCollection","features":[]}"#,
        #"{"type":"FeatureCollection","features":[1]}"#,
    ])
    func aFileWithoutAPlaceOnTheMapIsRefused(text: String) throws {
        let format = try #require(AreaFormat(kind: "geojson"))
        #expect(throws: AreaFileError.self) { try format.geometry(of: Array(text.utf8)) }
        #expect(throws: AreaFileError.self) { try format.read(AreaInput(bytes: Array(text.utf8))) }
    }

    @Test func utf16WithItsMarkIsRead() throws {
        let table = "\u{FEFF}lon,lat\n24.7,59.4\n"
        let little = table.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = table.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let format = try #require(AreaFormat(kind: "points"))
        for bytes in [little, big] {
            #expect(try format.geometry(of: bytes).points == [Coordinate(longitude: 24.7, latitude: 59.4)])
        }
        for bytes in [[0xFF, 0xFE], [0xFE, 0xFF, 0], [0xFF, 0xFE, 0, 0xD8]] as [[UInt8]] {
            #expect(throws: AreaFileError.self) { try format.geometry(of: bytes) }
        }
    }

    @Test func utf16AndLatin1AreRead() throws {
        let text =
            "<?xml version='1.0' encoding='utf-16'?><gpx><wpt lat='1' lon='2'><name>\u{1F600}é</name></wpt></gpx>"
        for isBig in [true, false] {
            for hasMark in [true, false] {
                let units = (hasMark ? [0xFEFF] : []) + Array(text.utf16)
                let bytes = units.flatMap { unit -> [UInt8] in
                    let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
                    return isBig ? [high, low] : [low, high]
                }
                #expect(try Read.shape(bytes: bytes, waypoints: true).points.count == 1)
            }
        }
        let latin =
            Array(
                "<?xml version='1.0' encoding='ISO-8859-1'?><kml><Placemark><name>J\u{F6}kull</name>".unicodeScalars.map
                { UInt8($0.value) })
            + Array(
                "<Polygon><outerBoundaryIs><LinearRing><coordinates>1,2 3,2 3,4</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark></kml>"
                    .utf8)
        let features = try Read.features(bytes: latin)
        guard case .string("Jökull")? = features.first?.properties["name"] else { return #expect(Bool(false)) }
    }
}

/// Reads a text as a command does.
enum Read {
    static func sink(_ text: String, waypoints: Bool = false, features: Bool = false) throws -> AreaSink {
        try sink(bytes: Array(text.utf8), waypoints: waypoints, features: features)
    }

    static func sink(bytes: [UInt8], waypoints: Bool = false, features: Bool = false) throws -> AreaSink {
        let input = pieces(bytes, of: 7)
        return try AreaFormat(of: input).read(input, .init(waypoints: waypoints, features: features))
    }

    static func shape(_ text: String, waypoints: Bool = false) throws -> AreaShape {
        try sink(text, waypoints: waypoints).shape
    }

    static func shape(bytes: [UInt8], waypoints: Bool = false) throws -> AreaShape {
        try sink(bytes: bytes, waypoints: waypoints).shape
    }

    static func features(_ text: String) throws -> [AreaFeature] { try sink(text, features: true).features }

    static func features(bytes: [UInt8]) throws -> [AreaFeature] { try sink(bytes: bytes, features: true).features }

    /// The error of a text, which must be refused as bad data.
    static func refusal(_ text: String, waypoints: Bool = false) -> String {
        refusal(bytes: Array(text.utf8), waypoints: waypoints)
    }

    static func refusal(bytes: [UInt8], waypoints: Bool = false) -> String {
        do {
            _ = try sink(bytes: bytes, waypoints: waypoints)
            return "it was read"
        } catch let error as AreaFileError {
            return error.exitStatus == .badData ? error.message : "exit \(error.exitStatus): \(error.message)"
        } catch {
            return "\(error)"
        }
    }

    /// Bytes that come in small pieces, so that every state of a reader is interrupted somewhere.
    static func pieces(_ bytes: [UInt8], of size: Int) -> AreaInput {
        var position = 0
        return AreaInput(file: nil) {
            defer { position = min(bytes.count, position + size) }
            return Array(bytes[position..<min(bytes.count, position + size)])
        }
    }

    /// Every line, in degrees rounded to a millionth.
    static func lines(_ shape: AreaShape) -> [[Coordinate]] {
        var lines: [[Coordinate]] = []
        shape.lines.forEachGroup(of: 1) { group in
            lines += group.map { line in
                line.map {
                    Coordinate(
                        longitude: ($0.longitude * 1e6).rounded() / 1e6, latitude: ($0.latitude * 1e6).rounded() / 1e6)
                }
            }
        }
        return lines
    }

    static func line(_ numbers: Double...) -> [Coordinate] {
        stride(from: 0, to: numbers.count, by: 2).map { Coordinate(longitude: numbers[$0], latitude: numbers[$0 + 1]) }
    }
}
