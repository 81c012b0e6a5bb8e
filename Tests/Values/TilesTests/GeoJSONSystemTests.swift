import Errors
import Testing

@testable import Tiles

/// Reference systems that GeoJSON names, and how polygons are written.
struct GeoJSONSystemTests {
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
}
