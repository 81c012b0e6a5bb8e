import Errors
import Testing
import Tiles

@testable import AreaFiles

struct GPXReaderTests {
    @Test func tracksAndRoutesAreLinesAndSegmentsAreNotJoined() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- <trk><trkseg><trkpt lat="1" lon="1"/></trkseg></trk> -->
            <gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxx="http://www.garmin.com/x">
             <metadata><bounds minlat="1" minlon="2" maxlat="3" maxlon="4"/></metadata>
             <wpt lat="10" lon="10"><name>A &amp; B &#x41;</name></wpt>
             <rte><name>r</name><rtept lat="59.5" lon="25.5"><extensions><gpxx:RoutePointExtension>
              <gpxx:rpt lat="59.55" lon="25.6"/></gpxx:RoutePointExtension></extensions></rtept>
              <rtept lat=" 59.6 " lon='25.7'/></rte>
             <trk><trkseg/><trkseg><trkpt lat="1" lon="2"><ele>5</ele><time>x</time></trkpt><trkpt lat="1.5" lon="2.5"/></trkseg>
              <trkseg><trkpt lat="3" lon="4"/></trkseg></trk>
            </gpx>
            """
        let sink = try Read.sink(text)
        #expect(
            Read.lines(sink.shape) == [
                Read.line(25.5, 59.5, 25.6, 59.55, 25.7, 59.6), Read.line(2, 1, 2.5, 1.5), Read.line(4, 3),
            ])
        #expect(sink.shape.points.isEmpty && sink.omitted == 1)
        #expect(try Read.shape(text, waypoints: true).points == [Coordinate(longitude: 10, latitude: 10)])
        let box = try #require(sink.shape.bounds)
        #expect(box == (try BoundingBox(west: 2, south: 1, east: 25.7, north: 59.6)))
    }

    @Test(arguments: [
        "<gpx version='0.31'><trk><trkseg><trkpt lat='1' lon='2'/></trkseg></trk></gpx>",
        "<gpx xmlns='http://www.topografix.com/GPX/1/0'><trk><trkseg><trkpt lon='2' lat='1'/></trkseg></trk></gpx>",
        "<a:gpx xmlns:a='http://www.topografix.com/GPX/1/1'><a:trk><a:trkseg><a:trkpt lat='1' lon='2'/></a:trkseg></a:trk></a:gpx>",
        "<gpx><![CDATA[<x>]]><trk><trkseg><trkpt lat='1' lon='2'><name><![CDATA[a]]]]><![CDATA[>]]></name></trkpt></trkseg></trk></gpx>",
    ])
    func oldVersionsAndPrefixesAreRead(text: String) throws {
        #expect(Read.lines(try Read.shape(text)) == [Read.line(2, 1)])
    }

    @Test(arguments: [
        (
            "<gpx>\n<trk><trkseg>\n<trkpt lat='95' lon='1'/></trkseg></trk></gpx>",
            "line 3: longitude 1.0, latitude 95.0 is not on the map"
        ),
        ("<gpx><rte><rtept lat='5' lon='181'/></rte></gpx>", "not on the map"),
        ("<gpx><rte><rtept lat='5'/></rte></gpx>", "<rtept> has no numbers lat and lon"),
        ("<gpx><rte><rtept lat='5' lon='x'/></rte></gpx>", "no numbers"),
        ("<gpx><rte><rtept lat='nan' lon='1'/></rte></gpx>", "no numbers"),
        ("<gpx><trk/></gpx>", "contains no coordinates"),
        ("<gpx><wpt lat='1' lon='2'/></gpx>", "only waypoints (1)"),
        ("<gpx><trk><trkseg>\n<trkpt lat='1' lon='2'/>", "line 2: the file ends inside <trkseg>"),
        ("<gpx><trk><trkseg></trk></gpx>", "</trk> ends an element; expected </trkseg>"),
        ("<gpx/><gpx/>", "second element"), ("<gpx>&nbsp;</gpx", "ends inside"), ("<gpx/>x", "outside"),
        ("<!DOCTYPE gpx [<!ENTITY a \"b\">]><gpx/>", "document type"),
        ("<gpx><rte><rtept lat='&a;' lon='1'/></rte></gpx>", "'&a;' is unknown"),
        ("<gpx a='1' a='2'/>", "twice"), ("<gpx a=1/>", "quotes"), ("<gpx a='<'/>", "contains '<'"),
        ("<gpx a/>", "no value"), ("<gpx a='1'b='2'/>", "not ended by '>'"),
        ("<gpx><rte><rtept lat='1' lon='-90'/><rtept lat='1' lon='90'/></rte></gpx>", "exactly 180 degrees apart"),
    ])
    func wrongFilesAreRefusedWithALine(text: String, says words: String) {
        let message = Read.refusal(text)
        #expect(message.contains(words), "\(message)")
    }

    @Test func depthNamesAttributesAndValuesAreBounded() {
        func refused(_ text: String, _ words: String) {
            let message = Read.refusal(text)
            #expect(message.contains(words), "\(message.prefix(200))")
        }
        refused("<gpx>" + String(repeating: "<a>", count: 100_000), "nested deeper than 128")
        refused("<gpx " + String(repeating: "a", count: 100_000) + "='1'/>", "more than 256 bytes")
        refused("<gpx " + (0..<1_000).map { "a\($0)='1' " }.joined() + "/>", "more than 128 attributes")
        refused("<gpx a='" + String(repeating: "a", count: 100_000) + "'/>", "more than 65536 bytes")
        let laughs = "<!DOCTYPE lolz [<!ENTITY a 'lol'><!ENTITY b '&a;&a;'>]>"
        refused("\(laughs)<gpx>&b;</gpx>", "document type")
        refused("<?xml version='1.0'?><!DOCTYPE gpx SYSTEM 'file:///etc/passwd'><gpx/>", "document type")
    }

    @Test func aRouteGoesTheShortWayRoundTheWorld() throws {
        let east = try Read.shape(
            "<gpx><rte><rtept lat='1' lon='179.95'/><rtept lat='1' lon='-179.95'/></rte></gpx>")
        let columns = Set(east.mask(8).tiles(atZoom: 8, under: .root).map(\.x))
        #expect(columns == [0, 255])
        let box = try #require(east.bounds)
        #expect(box.crossesAntimeridian && abs(box.width - 0.1) < 1e-9)
        // Twice round the world, and back at the start.
        let places = stride(from: 0, through: 720, by: 30).map { degrees in
            let within = Double(degrees).remainder(dividingBy: 360)
            return "<rtept lat='2' lon='\(within)'/>"
        }
        let around = try Read.shape("<gpx><rte>\(places.joined())</rte></gpx>")
        #expect(around.mask(6).count(atZoom: 6) == 64)
        #expect(around.longEdges == nil)
    }

    @Test func longEdgesOfARouteAreCounted() throws {
        let sink = try Read.sink(
            "<gpx><rte><rtept lat='0' lon='0'/>\n<rtept lat='0' lon='0.5'/>\n<rtept lat='0' lon='1.5'/><rtept lat='2' lon='2'/></rte></gpx>"
        )
        let legs = try #require(sink.longLegs)
        #expect(legs.line == 3 && legs.count == 2 && Int(legs.kilometers) == 111)
    }

    /// A track of many positions is cut into parts that share a position.
    @Test func aLongTrackKeepsEveryPositionAndCoversTheSameTiles() throws {
        var text = "<gpx><trk><trkseg>"
        var line: [Coordinate] = []
        for index in 0..<9_000 {
            let place = Coordinate(
                longitude: 24 + Double(index) / 5_000, latitude: 59 + 0.1 * Double(index % 37) / 37)
            line.append(place)
            text += "<trkpt lat=\"\(place.latitude)\" lon=\"\(place.longitude)\"/>"
        }
        let shape = try Read.shape(text + "</trkseg></trk></gpx>")
        #expect(shape.lines.positions == 9_000 + shape.lines.count - 1)
        let whole = TileMask(covering: MercatorShape(Geometry(lines: [line])), maxZoom: 14)
        #expect(shape.mask(14) == whole)
    }

    @Test func aRouteTakesLinesAndRefusesPolygons() throws {
        func read(_ text: String, waypoints: Bool = false) throws -> AreaShape {
            let input = AreaInput(bytes: Array(text.utf8))
            return try AreaFormat(of: input).read(input, .init(waypoints: waypoints, isRoute: true)).shape
        }
        let text = "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(3 4,5 6))"
        let shape = try read(text)
        #expect(shape.points.isEmpty && shape.lines.count == 1)
        #expect(try read(text, waypoints: true).points.count == 1)
        #expect(throws: AreaFileError.self) { try read("POINT(1 2)") }
        let error = #expect(throws: AreaFileError.self) { try read("POLYGON((0 0,1 0,1 1))") }
        #expect(error?.message.contains("line 1: a polygon is no route") == true)
    }
}
