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
}
