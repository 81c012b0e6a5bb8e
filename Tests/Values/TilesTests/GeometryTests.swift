import Errors
import Foundation
import Testing
import Tiles

struct GeometryTests {
    private func read(_ text: String) throws -> Geometry { try Geometry(geoJSON: Array(text.utf8)) }

    @Test func everyTypeOfGeoJSONIsRead() throws {
        #expect(try read(#"{"type":"Point","coordinates":[24.5,59.25,12]}"#).points.first?.latitude == 59.25)
        #expect(try read(#"{"coordinates":[[1,2],[3,4]],"type":"MultiPoint"}"#).points.count == 2)
        #expect(try read(#"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#).lines.count == 1)
        #expect(try read(#"{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[[5,6],[7,8]]]}"#).lines.count == 2)
        let ring = "[[0,0],[9,0],[9,9],[0,0]]"
        #expect(try read(#"{"type":"Polygon","coordinates":[\#(ring),\#(ring)]}"#).polygons.first?.count == 2)
        #expect(try read(#"{"type":"MultiPolygon","coordinates":[[\#(ring)],[\#(ring)]]}"#).polygons.count == 2)
        let point = #"{"type":"Point","coordinates":[-1e1,2.5E0]}"#
        let collection = try read(#"{"type":"GeometryCollection","geometries":[\#(point),\#(point)]}"#)
        #expect(collection.points == Array(repeating: Coordinate(longitude: -10, latitude: 2.5), count: 2))
        let feature = #"{"type":"Feature","geometry":\#(point),"properties":{"a":[1,"x",{"\u00e4\n":null}]}}"#
        let empty = #"{"type":"Feature","geometry":null,"properties":null}"#
        #expect(
            try read("\u{FEFF} {\"type\":\"FeatureCollection\",\"features\":[\(feature),\(empty)]} ").points.count == 1)
        #expect(try read(#"{"type":"Polygon","coordinates":[]}"#).isEmpty)
    }

    @Test func brokenGeoJSONIsRefusedWithAReason() throws {
        for text in [
            "", "{", "[]", "null", "{}", #"{"type":"Point"}"#, #"{"type":"Point","coordinates":[1]}"#,
            #"{"type":"Point","coordinates":[1,"2"]}"#, #"{"type":"Point","coordinates":[1,91]}"#,
            #"{"type":"Point","coordinates":[541,1]}"#, #"{"type":"Point","coordinates":[1e999,1]}"#,
            #"{"type":"Point","coordinates":[01,1]}"#, #"{"type":"Point","coordinates":[1.,1]}"#,
            #"{"type":"Point","coordinates":[1,1]} x"#, #"{"type":"Point","coordinates":[NaN,1]}"#,
            #"{"type":"Ring","coordinates":[1,1]}"#, #"{"type":"Feature"}"#,
            #"{"type":"Polygon","coordinates":[[1,2]]}"#, #"{"type":"Polygon","coordinates":[[[1,2],[3,4]]]}"#,
            #"{"type":"LineString","coordinates":[[1,2]]}"#,
            #"{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[[1,2]]]}"#,
            #"{"type":"FeatureCollection","features":{}}"#, "{\"type\":\"\u{1}\"}", #"{"type":"\q"}"#,
            #"{"type":"\u12"}"#,
            "{\"a\":" + String(repeating: "[", count: 100_000), String(repeating: "[1,", count: 100_000),
            String(repeating: #"{"a":"#, count: 100_000),
        ] {
            let error = #expect(throws: TilesError.self, "\(text.prefix(60))") { try read(text) }
            #expect(error?.code == .badGeometry)
        }
    }

    @Test func mangledGeoJSONNeverTraps() {
        let text =
            #"{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[0,0],[9e1,-0.5],[9,9],[0,0]]]},"#
            + #""properties":{"a":"\u00e4\\","b":[true,false,null,1,"x"]}}"#
        var random = SeededRandom(3)
        var read = 0
        for _ in 0..<10_000 {
            var bytes = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(place...)
                default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            if let geometry = try? Geometry(geoJSON: bytes) {
                read += 1
                _ = TileMask(covering: MercatorShape(geometry), maxZoom: 4).count
                _ = geometry.boundingBox
            }
        }
        #expect(read > 100)
    }

    private func columns(_ text: String, zoom: Int = 3) throws -> Set<Int> {
        Set(TileMask(covering: MercatorShape(try read(text)), maxZoom: zoom).occupiedTiles(atZoom: zoom).map(\.x))
    }

    private func polygon(_ rings: String...) -> String {
        #"{"type":"Polygon","coordinates":[\#(rings.joined(separator: ","))]}"#
    }

    /// A box as a ring that begins at its south-west corner.
    private func ring(_ west: Int, _ east: Int, south: Int = 10, north: Int = 20) -> String {
        "[[\(west),\(south)],[\(east),\(south)],[\(east),\(north)],[\(west),\(north)],[\(west),\(south)]]"
    }

    /// Columns of zoom 3 are 45 degrees wide; a border belongs to both.
    @Test(arguments: [
        (-179, 179, Array(0...7)), (-120, 150, Array(1...7)), (-100, 100, Array(1...6)), (170, -170, Array(0...7)),
        (-180, 180, Array(0...7)), (-90, 90, Array(1...6)), (170, 190, [0, 7]), (-190, -170, [0, 7]),
        (170, 180, [7]), (150, 420, [0, 1, 2, 3, 4, 5, 7]), (181, 190, [0]),
    ])
    func edgesAreStraightHoweverLongTheyAre(west: Int, east: Int, expected: [Int]) throws {
        let geometry = try read(polygon(ring(west, east)))
        let mask = TileMask(covering: MercatorShape(geometry), maxZoom: 3)
        let tiles = Array(mask.occupiedTiles(atZoom: 3))
        #expect(Set(tiles.map(\.x)) == Set(expected))
        // From 10 to 20 degrees north is one row: no tile is missing inside and none is there outside.
        #expect(Set(tiles.map(\.y)) == [3] && tiles.count == expected.count)
        if abs(west) <= 180, abs(east) <= 180 {
            let box = try BoundingBox(
                west: Double(min(west, east)), south: 10, east: Double(max(west, east)), north: 20)
            #expect(geometry.boundingBox == box)
            #expect(mask == TileMask(covering: MercatorShape(box), maxZoom: 3))
        }
    }

    @Test func aShapeAcrossTheAntimeridianIsWrittenBeyond180OrCut() throws {
        let beyond = try read(polygon(ring(170, 190)))
        let cut = try read(#"{"type":"MultiPolygon","coordinates":[[\#(ring(170, 180))],[\#(ring(-180, -170))]]}"#)
        let across = try BoundingBox(west: 170, south: 10, east: -170, north: 20)
        #expect(beyond.boundingBox == across)
        #expect(cut.boundingBox == beyond.boundingBox)
        for zoom in [3, 9] {
            let masks = [beyond, cut].map { TileMask(covering: MercatorShape($0), maxZoom: zoom) }
            #expect(masks[0] == masks[1])
        }
        #expect(beyond.longEdges == nil && cut.longEdges == nil)
        // A hole that is written on the other side of the antimeridian is a hole all the same.
        let holed = TileMask(
            covering: MercatorShape(try read(polygon(ring(170, 190), ring(-179, -171, south: 12, north: 18)))),
            maxZoom: 10)
        let inHole = MercatorPoint(longitude: -175, latitude: 15)
        let place = try #require(TileID(zoom: 10, x: Int(inHole.x >> 22), y: Int(inHole.y >> 22)))
        #expect(!holed.contains(place))
    }

    @Test func edgesThatMayBeMeantTheOtherWayAreListed() throws {
        let crossing = try #require(try read(polygon(ring(170, -170))).longEdges)
        #expect(crossing.count == 2)
        #expect(
            crossing.explanation.hasPrefix(
                "2 edges span more than 180 degrees of longitude; the first goes from [170, 10] to"))
        #expect(crossing.explanation.contains("it is 340 degrees long"))
        #expect(crossing.explanation.contains("20 degrees long, write 190 instead of -170"))
        let wide = try #require(try read(polygon(ring(-179, 179))).longEdges)
        #expect(wide.explanation.contains("358 degrees long") && wide.explanation.contains("-181 instead of 179"))
        let line = try #require(try read(#"{"type":"LineString","coordinates":[[170,10],[-170.5,12]]}"#).longEdges)
        #expect(
            line.explanation.hasPrefix(
                "An edge spans more than 180 degrees of longitude from [170, 10] to [-170.5, 12]."))
        #expect(line.explanation.contains("write 189.5 instead of -170.5"))
        // An edge that closes a ring counts, although it is not written.
        #expect(try read(polygon("[[-100,0],[0,0],[100,0],[100,10]]")).longEdges?.count == 1)
        for clear in [
            ring(-90, 90), ring(-180, 180), ring(170, 190), ring(0, 180), ring(-170, 170, south: 86, north: 90),
        ] {
            #expect(try read(polygon(clear)).longEdges == nil, "\(clear)")
        }
    }

    @Test func whatMapsHaveOfAntarcticaKeepsItsEdgeAlongTheBottom() throws {
        let cut = "[[-180,-90],[-180,-70],[-90,-75],[0,-70],[90,-66],[180,-70],[180,-90],[-180,-90]]"
        let geometry = try read(polygon(cut))
        #expect(geometry.longEdges == nil)
        let mask = TileMask(covering: MercatorShape(geometry), maxZoom: 6)
        for x in 0..<64 {
            #expect(mask.contains(try tile("6/\(x)/63")))
            #expect(!mask.contains(try tile("6/\(x)/0")))
            #expect(!mask.contains(try tile("6/\(x)/32")))
        }
    }

    /// Edges are straight in longitude and latitude up to the end of the map: moving a corner to it would narrow the shape.
    @Test func whatLiesBeyondTheMapIsCutOffAndTheRestKeepsItsForm() throws {
        func columns(_ ring: String, row: UInt32, zoom: Int = 7) throws -> [UInt32] {
            let mask = TileMask(covering: MercatorShape(try read(polygon(ring))), maxZoom: zoom)
            return try (0..<UInt32(1 << zoom)).filter { mask.contains(try tile("\(zoom)/\($0)/\(row)")) }
        }
        // At the end of the map the edges are 68.49 and 73.73 tiles of zoom 7 from the west, one row below 68.18 and 74.04.
        #expect(try columns("[[0,80],[40,80],[20,88],[0,80]]", row: 0) == Array(68...74))
        #expect(try columns("[[0,-80],[20,-88],[40,-80]]", row: 127) == Array(68...74))
        // Two peaks: nothing between them at the end of the map.
        let peaks = "[[0,80],[40,80],[40,89],[30,81],[10,81],[0,89],[0,80]]"
        #expect(try columns(peaks, row: 0).contains(64) && columns(peaks, row: 0).contains(78))
        #expect(try !columns(peaks, row: 0).contains(71))
        // From pole to pole: both ends.
        #expect(try columns("[[10,-90],[20,-90],[20,90],[10,90]]", row: 0) == Array(67...71))
        #expect(try columns("[[10,-90],[20,-90],[20,90],[10,90]]", row: 127) == Array(67...71))
        // Wholly beyond, and around a pole beyond.
        for ring in ["[[0,86],[40,86],[40,88]]", "[[-180,86],[180,86],[180,90],[-180,90]]"] {
            #expect(TileMask(covering: MercatorShape(try read(polygon(ring))), maxZoom: 3).isEmpty, "\(ring)")
        }
    }

    /// Exports of some programs trace outlines twice; by the even-odd rule alone such a polygon is hollow.
    @Test func aRingThatIsTracedTwiceIsNotHollow() throws {
        let corners = "[0,0],[40,0],[40,40],[0,40]"
        let once = TileMask(covering: MercatorShape(try read(polygon("[\(corners),[0,0]]"))), maxZoom: 7)
        for ring in [
            "[\(corners),\(corners),[0,0]]", "[\(corners),[0,0],\(corners),[0,0]]",
            "[\(corners),\(corners),\(corners)]",
        ] {
            let twice = TileMask(covering: MercatorShape(try read(polygon(ring))), maxZoom: 7)
            #expect(twice == once, "\(ring)")
        }
        // A figure of eight has no period.
        let eight = "[[0,0],[40,40],[40,0],[0,40],[0,0]]"
        let crossed = TileMask(covering: MercatorShape(try read(polygon(eight))), maxZoom: 7)
        #expect(crossed.count(atZoom: 7) < once.count(atZoom: 7))
    }

    /// On the sphere of the mean radius; an ellipsoid's distances differ by up to 0.6 %, which the test leaves out on the
    /// safe side by asking for places within 99 % of the radius.
    @Test(arguments: [
        (0.0, 0.0), (24.7, 59.4), (179.9, -16), (-180, 70), (10, 84), (30, 89.5), (-60, -89.99), (77, -80),
    ])
    func circlesHoldEverythingWithinTheirRadius(place: (Double, Double)) throws {
        var random = SeededRandom(11)
        let earth = 6_371_008.8
        for radius in [10.0, 1_500, 50_000, 600_000, 3_000_000, 9_000_000] {
            let center = Coordinate(longitude: place.0, latitude: place.1)
            let circle = Geometry.circles(points: [center], radiusMeters: radius)
            let zoom = radius < 1_000 ? 16 : radius < 100_000 ? 12 : 7
            let mask = TileMask(covering: MercatorShape(circle), maxZoom: zoom)
            for _ in 0..<400 {
                let angle = radius * 0.99 * Double.random(in: 0...1, using: &random).squareRoot() / earth
                let bearing = Double.random(in: 0..<(2 * .pi), using: &random)
                let latitude = place.1 * .pi / 180
                let sine = max(-1, min(1, sin(latitude) * cos(angle) + cos(latitude) * sin(angle) * cos(bearing)))
                let turn = atan2(sin(bearing) * sin(angle) * cos(latitude), cos(angle) - sin(latitude) * sine)
                let found = Coordinate(
                    longitude: (place.0 + turn * 180 / .pi).remainder(dividingBy: 360), latitude: asin(sine) * 180 / .pi
                )
                if abs(found.latitude) > BoundingBox.maxLatitude { continue }
                let point = MercatorPoint(longitude: found.longitude, latitude: found.latitude)
                let shift = Int64(32 - zoom)
                let last = 1 << zoom - 1
                let tile = try #require(
                    TileID(zoom: zoom, x: min(last, Int(point.x >> shift)), y: min(last, Int(point.y >> shift))))
                #expect(mask.contains(tile), "radius \(radius) misses \(found)")
            }
            // And not much more: the area stays below 1.1 times the circle's away from the poles.
            if abs(place.1) + radius / 111_000 < 80, let box = circle.boundingBox {
                #expect((box.north - box.south) * 111_195 < radius * 2 * 1.03)
            }
        }
        #expect(Geometry.circles(points: [Coordinate(longitude: .nan, latitude: 1)], radiusMeters: 5).isEmpty)
    }

    @Test func boxesReadAndRefuse() throws {
        let box = try BoundingBox(parsing: " bbox( 22.5 , 57.5, 26,59.5e0 ) ")
        #expect(box.description == "22.5,57.5,26.0,59.5")
        #expect(try BoundingBox(parsing: box.description) == box)
        #expect(try BoundingBox(parsing: "-180,-90,180,90") == .world)
        #expect(try BoundingBox(parsing: "174,-20,-178,-15").center == (178, -17.5))
        for text in ["[22.5,57.5,26,59.5]", "bbox=[22.5 57.5 26 59.5]", "22.5; 57.5; 26; 59.5", "(22.5 57.5  26 59.5)"]
        {
            #expect(try BoundingBox(parsing: text) == box, "\(text)")
        }
        for text in [
            "[1,2,3,4", "[1,2,3,4)", "1,2,3,4]", "[]", "[", "bbox", "bbox()", "1 2 3", "", "1,2,3", "1,2,3,4,5",
            "bbox 1,2,3,4", "1,2,3,x", "1,nan,3,4", "1,5,3,4", "-181,0,0,0",
            "0,-91,0,0", "0x1,2,3,4", "1,,3,4", "bbox(1,2,3,4",
        ] {
            let error = #expect(throws: TilesError.self, "\(text)") { try BoundingBox(parsing: text) }
            #expect(error?.code == .badBox)
        }
        #expect(try JSONDecoder().decode(BoundingBox.self, from: JSONEncoder().encode(box)) == box)
        let (fiji, tonga) = (try BoundingBox(parsing: "177,-20,180,-15"), try BoundingBox(parsing: "-180,-20,-174,-15"))
        #expect(fiji.union(tonga).description == "177.0,-20.0,-174.0,-15.0")
        #expect(tonga.union(fiji) == fiji.union(tonga))
        #expect(fiji.union(.world).width == 360)
        #expect(try box.union(BoundingBox(parsing: "24,58,28,60")).description == "22.5,57.5,28.0,60.0")
    }
}
