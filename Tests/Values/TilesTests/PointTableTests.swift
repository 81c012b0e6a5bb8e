import Errors
import Testing

@testable import Tiles

struct PointTableTests {
    @Test(arguments: [
        "name,latitude,longitude\nhut,59.4,24.7\n", "lon;lat\n24.7;59.4", "\u{FEFF}X\tY\r\n24.7\t59.4\r\n",
        "24.7,59.4\n",
        "\"lng\",\"note\",\"lat\"\n24.7,\"a, b\",59.4\n\n",
    ])
    func theUsualHeadersAndSeparatorsAreRead(text: String) throws {
        let points = try AreaFeature.features(table: Array(text.utf8))[0].geometry.points
        #expect(points.count == 1)
        #expect(points[0].longitude == 24.7)
        #expect(points[0].latitude == 59.4)
    }

    @Test(arguments: [
        ("", "empty"), ("a,b\n1,2", "found: a, b"), ("lon,lat\n", "no points"), ("lon,lat\n24,59\n200,1\n", "line 3"),
        ("lon,lat\n24\n", "line 2"), ("lon,lat\n24,59\n24,86\n", "line 3 is outside the map"),
        ("lon,lat,lat\n1,2,3\n", "two columns with the same meaning: lat, lat"),
        ("lon,lat\n1,\"2", "line 2 has an unclosed quote"),
        ("lon,lat,note\n1,2,\"a\nb\"\n", "line 2 has an unclosed quote"),
    ])
    func whatIsWrongIsNamed(text: String, says: String) {
        #expect { try AreaFeature.features(table: Array(text.utf8)) } throws: {
            guard let error = $0 as? TilesError else { return false }
            return error.code == .badGeometry && error.message.contains(says)
        }
    }

    /// Many files have projected or pixel coordinates in addition to geographic ones.
    @Test(arguments: ["x,y,lon,lat\n10,20,24.7,59.4\n", "y,lon,lat\n20,24.7,59.4\n", "lat,x,lng,y\n59.4,1,24.7,2\n"])
    func namedCoordinatesComeBeforeXAndY(text: String) throws {
        let point = try #require(try AreaFeature.features(table: Array(text.utf8))[0].geometry.points.first)
        #expect(point.longitude == 24.7 && point.latitude == 59.4)
    }
}
