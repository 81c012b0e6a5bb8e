import Errors
import Testing

@testable import Tiles

struct AreaFormatTests {
    @Test func everyKindAndEndingNamesOneFormat() {
        let all = AreaFormat.all
        #expect(Set(all.map(\.kind)).count == all.count)
        let endings = all.flatMap(\.endings)
        #expect(Set(endings).count == endings.count)
        for format in all {
            #expect(AreaFormat(kind: format.kind)?.kind == format.kind)
            for ending in format.endings {
                #expect(AreaFormat(path: "/a.b/x.\(ending.uppercased())")?.kind == format.kind)
            }
        }
        #expect(AreaFormat(kind: "bbox") == nil)
        for path in ["geojson", "", ".", "a.geojson/b", "a.xyz"] { #expect(AreaFormat(path: path) == nil) }
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
        #expect(throws: TilesError.self) { try format.geometry(of: Array(text.utf8)) }
    }

    @Test func polygonsAreWrittenAsTheyAreRead() throws {
        let text = #"{"coordinates":[[[[1.5,2.0],[3.0,2.0],[3.0,1e-07],[1.5,2.0]]]],"type":"MultiPolygon"}"#
        #expect(try Geometry(geoJSON: Array(text.utf8)).polygonsGeoJSON == text)
        #expect(Geometry().polygonsGeoJSON == #"{"coordinates":[],"type":"MultiPolygon"}"#)
    }

    @Test(arguments: [
        "urn:ogc:def:crs:EPSG::3857", "EPSG:3301", "urn:ogc:def:crs:EPSG::4258",
        "http://www.opengis.net/def/crs/EPSG/0/3857",
    ])
    func positionsInAnotherSystemAreRefusedWithItsName(name: String) throws {
        // 400 m and 80 m from the origin of the system: small enough to be degrees.
        for text in [
            #"{"type":"Point","crs":{"type":"name","properties":{"name":"NAME"}},"coordinates":[40,8]}"#,
            #"{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"NAME"}},"features":[]}"#,
            #"{"type":"Feature","properties":{},"geometry":{"type":"Point","crs":{"type":"link","properties":{"href":"NAME"}},"coordinates":[40,8]}}"#,
            #"{"type":"FeatureCollection","features":[{"type":"Feature","crs":"NAME","properties":{},"geometry":null}]}"#,
        ] {
            let bytes = Array(text.replacing("NAME", with: name).utf8)
            for read in [{ _ = try Geometry(geoJSON: bytes) }, { _ = try AreaFeature.features(geoJSON: bytes) }] {
                #expect { try read() } throws: {
                    guard let error = $0 as? TilesError else { return false }
                    return error.code == .badGeometry && error.message.contains("'\(name)'") && error.hint != nil
                }
            }
        }
    }

    @Test(arguments: [
        #"{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}"#, "null", #""EPSG:4326""#,
        #"{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::4326"}}"#,
        #"{"type":"EPSG","properties":{"code":4326}}"#,
        #"{"type":"link","properties":{"href":"http://www.opengis.net/def/crs/OGC/0/CRS84"}}"#,
        #"{"type":"name","properties":{"name":"http://www.opengis.net/gml/srs/epsg.xml#4326"}}"#,
    ])
    func aNamedSystemOfDegreesIsRead(system: String) throws {
        let text = #"{"type":"Point","crs":\#(system),"coordinates":[40,8]}"#
        #expect(try Geometry(geoJSON: Array(text.utf8)).points == [Coordinate(longitude: 40, latitude: 8)])
    }

    @Test func numbersForASystemAreNamed() {
        let text = #"{"type":"Point","crs":{"type":"EPSG","properties":{"code":3857}},"coordinates":[40,8]}"#
        #expect { try Geometry(geoJSON: Array(text.utf8)) } throws: { "\($0)".contains("EPSG:3857") }
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
            #expect(throws: TilesError.self) { try format.geometry(of: bytes) }
        }
    }
}
