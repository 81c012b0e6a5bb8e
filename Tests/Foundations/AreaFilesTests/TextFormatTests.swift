import Foundation
import Testing
import Tiles

@testable import AreaFiles

/// Polygon filter files, well-known text and sequences of GeoJSON.
struct TextFormatTests {
    private static let lake = """
        lake
        1
           25.5 59.5
           2.62E+01 59.5
           26 59.8
        END
        !2
           25.8 59.55
           26 59.55
           25.9 59.6
        END
        END
        """

    /// As in files of Geofabrik.
    @Test func emptySectionsAreLeftOut() throws {
        let text = "lake\n1\n 1 1\n 3 1\n 2 3\nEND\n2\nEND\n!3\n\nEND\nEND\n"
        #expect(try Read.shape(text).polygons.map(\.count) == [1])
        #expect(Read.refusal("lake\n1\n 1 1\n 3 1\nEND\nEND\n").contains("2 positions"))
    }

    @Test func aPolygonFilterFileHasRingsAndHoles() throws {
        for text in [Self.lake, Self.lake.replacingOccurrences(of: "\n", with: "\r\n\r\n")] {
            let shape = try Read.shape(text)
            #expect(shape.polygons.map(\.count) == [2])
            let expected = Geometry(polygons: [
                [Read.line(25.5, 59.5, 26.2, 59.5, 26, 59.8), Read.line(25.8, 59.55, 26, 59.55, 25.9, 59.6)]
            ])
            #expect(shape.mask(14) == AreaShape(expected).mask(14))
            #expect(shape.bounds == expected.boundingBox)
        }
        // Two rings of one file, the hole in the second one; rings that overlap do not cancel each other.
        let two = """
            none
            a
            0 0
            10 0
            10 10
            0 10
            0 0
            END
            b
            5 5
            15 5
            15 15
            5 15
            END
            !c
            11 11
            14 11
            14 14
            11 14
            END
            END
            another
            1
            30 1
            31 1
            31 2
            END
            END

            """
        let shape = try Read.shape(two)
        #expect(shape.polygons.map(\.count) == [1, 2, 1])
        let mask = shape.mask(10)
        func has(_ longitude: Double, _ latitude: Double) throws -> Bool {
            mask.contains(try #require(TileID(at: Coordinate(longitude: longitude, latitude: latitude), zoom: 10)))
        }
        for (longitude, latitude) in [(7.0, 7.0), (1, 1), (14.6, 14.6), (30.9, 1.2)] {
            #expect(try has(longitude, latitude))
        }
        for (longitude, latitude) in [(12.5, 12.5), (1, 12)] { #expect(try !has(longitude, latitude)) }
        let names = try Read.features(two).map { $0.properties["name"] }
        guard case .string("another")? = names.last ?? nil else { return #expect(Bool(false)) }
    }

    @Test(arguments: [
        ("lake\n1\n 25.5 59.5\n 26 59.5\n 26 59.8\nEND\n", "without its last END"),
        ("lake\n1\n 25.5 59.5\n 26 59.5\nEND\nEND\n", "line 5: a section ends that has 2 positions"),
        ("lake\n1\n 25.5 59.5\n 26 59.5\n 25.5 59.5\nEND\nEND\n", "has 2 positions"),
        ("lake\n1\n 25.5 59.5\n 26 x\n", "line 4: '26 x' is no position"),
        ("lake\n1\n 25.5 59.5\n 26 95\n", "line 4: longitude 26.0, latitude 95.0 is not on the map"),
        ("lake\n1\n 25.5 59.5\n 26 59\n", "ends inside a section"),
        ("lake\n!1\n 25.5 59.5\n 26 59.5\n 26 59.8\nEND\nEND\n", "no section that adds an area"),
        ("lake\n1\n 1 2\n" + String(repeating: "x", count: 10_000), "more than 4096 bytes"),
    ])
    func wrongPolygonFilterFilesAreRefused(text: String, words: String) {
        let message = Read.refusal(text)
        #expect(message.contains(words), "\(message)")
    }

    @Test func wellKnownTextIsReadAsGeoJSONIs() throws {
        for (text, json) in [
            ("POINT(25.5 59.5)", #"{"type":"Point","coordinates":[25.5,59.5]}"#),
            ("SRID=4326;POINT Z (25.5 59.5 7)", #"{"type":"Point","coordinates":[25.5,59.5]}"#),
            ("pointzm(1 2 3 4)", #"{"type":"Point","coordinates":[1,2]}"#),
            ("MULTIPOINT ((1 2), (3 4))", #"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#),
            ("MULTIPOINT (1 2, 3 4)", #"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#),
            ("LINESTRING M (1 2 0,3 4 1)", #"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#),
            (
                "POLYGON((0 0,9 0,9 9,0 0),(1 1,2 1,2 2,1 1))",
                #"{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]}"#
            ),
            (
                "MULTILINESTRING((1 2,3 4),(5 6,7 8))",
                #"{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[[5,6],[7,8]]]}"#
            ),
            (
                "MULTIPOLYGON(((0 0,9 0,9 9)),((1 1,2 1,2 2)))",
                #"{"type":"MultiPolygon","coordinates":[[[[0,0],[9,0],[9,9]]],[[[1,1],[2,1],[2,2]]]]}"#
            ),
            (
                "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING EMPTY,POINT Z EMPTY,GEOMETRYCOLLECTION(POINT(3 4)))",
                #"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#
            ),
            ("POINT(1 2);\nSRID=4326;POINT(3 4)\nPOINT EMPTY\n", #"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#),
        ] {
            let expected = AreaShape(try Geometry(geoJSON: Array(json.utf8)))
            let found = try Read.shape(text)
            #expect(found.mask(12) == expected.mask(12) && found.bounds == expected.bounds, "\(text)")
        }
    }

    @Test(arguments: [
        ("SRID=3857;POINT(1 2)", "SRID 3857"), ("SRID=x;POINT(1 2)", "expected a number"),
        ("POLYGON((0 0,1 1))", "a ring has 2 positions"), ("POLYGON((0 0,1 1,0 0))", "a ring has 2 positions"),
        ("LINESTRING(1 2)", "one position"), ("POINT(1 95)", "not on the map"), ("POINT(1 86)", "outside the map"),
        ("POINT(1 2", "expected ')'"), ("POINT(1 2 3 4 5)", "expected ')'"),
        ("CURVEPOLYGON(1 2)", "no geometry that is read"),
        ("POINT(1 2) POINTY(3 4)", "'POINTY' is no geometry"), ("POINT(1,2)", "expected a number"),
        ("LINESTRING EMPTY", "contains no coordinates"),
        (String(repeating: "GEOMETRYCOLLECTION(", count: 100_000), "nested deeper than 32"),
    ])
    func wrongTextIsRefused(text: String, words: String) {
        let message = Read.refusal(text, waypoints: true)
        #expect(message.contains(words), "\(message)")
    }

    @Test func sequencesAreReadRecordByRecord() throws {
        let one = #"{"type":"Feature","properties":{"id":"A"},"geometry":{"type":"Point","coordinates":[1,2]}}"#
        let two = "{\"type\":\"Feature\",\n\"properties\":{},\n\"geometry\":{\"type\":\"Point\",\"coordinates\":[3,4]}}"
        let lines = two.replacingOccurrences(of: "\n", with: " ")
        for text in [
            "\(one)\n\(lines)", "\(one)\r\n\n\(lines)\n", "\u{1E}\(one)\n\u{1E}\(two)\n",
            "\u{1E}\u{1E}\(two)\n\u{1E}\(one)",
        ] {
            #expect(try Read.shape(text).points.count == 2, "\(text)")
            #expect(try Read.features(text).count == 2)
        }
        #expect(Read.refusal("\(one)\n\(two)\n").contains("record 2 (line 2): "))
        #expect(
            Read.refusal("\u{1E}\(one)\n\u{1E}\(two.dropLast(3))").contains("record 2 (line 2): GeoJSON ends"))
        #expect(
            Read.refusal("\(one)\n{\"type\":\"Point\",\"coordinates\":[1,86]}\n").contains(
                "record 2 (line 2): feature 0: the point [1.0, 86.0] is outside the map"))
    }

    @Test(arguments: [
        ("25.5", 25.5), ("-2.62E+01", -26.2), (".5", 0.5), ("5.", 5), ("+7", 7),
        ("0.1234567890123456", 0.1234567890123456),
        ("179.999999999999", 179.999999999999), ("1e-5", 1e-5),
    ])
    func numbersAreExact(text: String, number: Double) {
        #expect(NumberText.number(Array(text.utf8)[...]) == number)
    }

    @Test(arguments: ["", "-", ".", "1e999", "nan", "inf", "0x10", "1,5", "1 ", "--1", "1.2.3", "e5"])
    func otherTextsAreNoNumbers(text: String) {
        #expect(NumberText.number(Array(text.utf8)[...]) == nil)
    }
}
