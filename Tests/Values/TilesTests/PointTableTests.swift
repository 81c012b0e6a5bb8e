import Errors
import Testing

@testable import Tiles

struct PointTableTests {
    @Test(arguments: [
        "name,latitude,longitude\nhut,59.4,24.7\n", "lon;lat\n24.7;59.4", "\u{FEFF}X\tY\r\n24.7\t59.4\r\n",
        "24.7,59.4\n",
        "\"lng\",\"note\",\"lat\"\n24.7,\"a, b\",59.4\n\n",
        "\"name; long\",lon,lat\nhut,24.7,59.4\n", "\"a\tb\";\"x,y\";lat;lon\n1;2;59,4;24,7\n",
        "sep=;\nlon;lat\n24,7;59,4\n", "\"sep=|\"\r\nlat|lon\r\n59.4|24.7\r\n", "SEP=,\nlon,lat\n\"24,7\",\"59,4\"",
        "24,7;59,4\n", "lon|lat\n24.7|59.4", "@lat\t@lon\n59.4\t24.7\n", "Lon (deg),Lat [deg]\n24.7,59.4\n",
        "lon,lat,lon (dms),lat (dms)\n24.7,59.4,24 42 E,59 24 N\n",
        "lon,lat\n24°42′E,59°24′N\n", "lat,lon\n59 24 0 N,24 42 0 E\n", "lat;lon\nN59°24,0';E 24°42,0'\n",
        "lat,lon\n\"59°24'00\"\"N\",24:42\n", "lon,lat,note\n24.7,59.4,\"a\nb \"\"c\"\"\"\n",
        "inch\",lon,lat\n5\",24.7,59.4\n", "lon,lat,note\n24.7,59.4,x,y,z\n",
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
        ("lon,lat,note\n1,2,\"a\"\"\nb\n", "line 2 has an unclosed quote"),
        ("lon,lat\n24,7,59,4\n", "line 2 has 4 cells instead of 2"), ("24,7,59,4\n", "line 1 has 4 cells instead of 2"),
        ("name,lat,lon\nhut,59,4,24,7\n", "line 2 has 5 cells instead of 3"),
        ("lon;lat\n24,7;59,4\n1.234,5;1\n", "line 3"), ("lon,lat\n59 24 N,24 42 E\n", "line 2"),
        ("lon,lat\n24°61′E,59°N\n", "line 2"), ("lon,lat\n24 O,59 N\n", "line 2"), ("lon,lat\n-24 W,59\n", "line 2"),
        ("lon,lat\n0x10,59\n", "line 2"), ("lon,lat\nnan,59\n", "line 2"),
        ("sep=;\nlon,lat\n1,2\n", "found: lon,lat"), ("lon,lat\n1,2,\"a\nb\"\n300,2,c\n", "line 4"),
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
