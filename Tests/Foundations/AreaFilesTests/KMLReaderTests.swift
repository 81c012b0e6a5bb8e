import Foundation
import Testing
import Tiles

@testable import AreaFiles

struct KMLReaderTests {
    private static func kml(_ inner: String) -> String { "<kml xmlns='http://www.opengis.net/kml/2.2'>\(inner)</kml>" }

    private static func line(_ coordinates: String) -> String {
        kml("<Placemark><LineString><coordinates>\(coordinates)</coordinates></LineString></Placemark>")
    }

    @Test func everyGeometryIsRead() throws {
        let text = Self.kml(
            """
            <Document><LookAt><longitude>9</longitude><latitude>9</latitude></LookAt><Folder>
            <Placemark><name>A</name><ExtendedData><Data name="iso"><value> EE-37 </value></Data>
            <SchemaData schemaUrl="#s"><SimpleData name="code">7</SimpleData></SchemaData></ExtendedData>
            <MultiGeometry><Polygon><outerBoundaryIs><LinearRing><coordinates>
              0,0,5 10,0,5
              10,10,5 0,10,5 0,0,5</coordinates></LinearRing></outerBoundaryIs>
             <innerBoundaryIs><LinearRing><coordinates>2,2 4,2 4,4 2,2</coordinates></LinearRing></innerBoundaryIs></Polygon>
             <Point><coordinates>25,59,0</coordinates></Point></MultiGeometry></Placemark></Folder>
            <Placemark><LineString><coordinates>1,2\t3,4\n5, 6,7</coordinates></LineString></Placemark>
            <Placemark><LinearRing><coordinates>1,1 2,2 3,1 1,1</coordinates></LinearRing></Placemark>
            <Placemark><gx:Track xmlns:gx="x"><when>t</when><gx:coord>25 59 1</gx:coord><gx:coord>25.5 59.5</gx:coord></gx:Track></Placemark>
            </Document>
            """)
        let shape = try Read.shape(text)
        #expect(
            Read.lines(shape) == [
                Read.line(1, 2, 3, 4, 5, 6), Read.line(1, 1, 2, 2, 3, 1, 1, 1), Read.line(25, 59, 25.5, 59.5),
            ])
        #expect(shape.polygons.map(\.count) == [2] && shape.points.isEmpty)
        #expect(try Read.shape(text, waypoints: true).points == [Coordinate(longitude: 25, latitude: 59)])
        let first = try #require(try Read.features(text).first { !$0.geometry.polygons.isEmpty })
        let texts = first.properties.mapValues { if case .string(let text) = $0 { text } else { "?" } }
        #expect(texts == ["name": "A", "iso": "EE-37", "code": "7"])
    }

    @Test(arguments: [
        ("25,59 26,60", [25.0, 59, 26, 60]), ("25,59,0 26,60,0", [25, 59, 26, 60]),
        ("\n25, 59, 0\n 26 ,60", [25, 59, 26, 60]), ("25,59, 26,60,", [25, 59, 26, 60]),
        ("<![CDATA[25,59 26,60]]>", [25, 59, 26, 60]), ("2.5E1,59 +26,60.", [25, 59, 26, 60]),
    ])
    func coordinatesAreParted(text: String, numbers: [Double]) throws {
        if text == "25,59, 26,60," {
            #expect(Read.refusal(Self.line(text)).contains("more than three numbers"))
            return
        }
        let places = stride(from: 0, to: numbers.count, by: 2).map {
            Coordinate(longitude: numbers[$0], latitude: numbers[$0 + 1])
        }
        #expect(Read.lines(try Read.shape(Self.line(text))) == [places])
    }

    @Test(arguments: [
        ("25,59,26,59,26,60", "more than three numbers"), (",25,59", "without a number before it"),
        ("25 59 0", "tuple of one number"), ("25,,59", "without a number before it"), ("a,b", "'a'; expected a number"),
        ("25,91 26,60", "not on the map"), ("1,2 541,2", "not on the map"), ("", "no coordinates"),
    ])
    func wrongCoordinatesAreRefused(text: String, words: String) {
        let message = Read.refusal(Self.line(text))
        #expect(message.contains(words), "\(message)")
    }

    @Test func aLinkWithoutAnAddressNamesNothing() throws {
        for link in [
            "<NetworkLink><name>a</name></NetworkLink>", "<NetworkLink><Link/></NetworkLink>",
        ] {
            let text = Self.kml(
                link + "<Placemark><LineString><coordinates>25,59 26,60</coordinates></LineString></Placemark>")
            #expect(Read.lines(try Read.shape(text)) == [Read.line(25, 59, 26, 60)])
        }
    }

    /// What lies before an archive, or is missing there, moves the places that its directory names.
    @Test func anArchiveMayBeMoved() throws {
        let files = [(name: "a.txt", text: "abcdef"), (name: "doc.kml", text: Self.line("25,59 26,60"))]
        let archive = ZipSample.archive(files, isPacked: true)
        for bytes in [archive, [0x50, 0x4B, 3, 4, 1, 2, 3] + archive, Array(archive.dropFirst(2))] {
            let format = try #require(AreaFormat(kind: "kmz"))
            #expect(Read.lines(try format.read(AreaInput(bytes: bytes)).shape) == [Read.line(25, 59, 26, 60)])
        }
    }

    @Test func linksToOtherFilesAreRefused() {
        let link = "<NetworkLink>\n<Link><href>http://127.0.0.1:9/a.kml</href></Link></NetworkLink>"
        #expect(Read.refusal(Self.kml(link)).contains("line 1: a NetworkLink names 'http://127.0.0.1:9/a.kml'"))
        let both = link + "<Placemark><LineString><coordinates>1,2 3,4</coordinates></LineString></Placemark>"
        #expect(Read.refusal(Self.kml(both)).contains("NetworkLink"))
        #expect(Read.refusal("<Document><x/></Document>").contains("no coordinates"))
        #expect(
            Read.refusal(
                Self.kml(
                    "<Polygon><outerBoundaryIs><LinearRing><coordinates>1,1 2,2</coordinates></LinearRing></outerBoundaryIs></Polygon>"
                )
            ).contains("a ring of a polygon has 2 positions"))
    }

    @Test func theDocumentOfAnArchiveIsRead() throws {
        let ring = "<outerBoundaryIs><LinearRing><coordinates>0,0 9,0 9,9</coordinates></LinearRing></outerBoundaryIs>"
        let area = Self.kml("<Polygon>\(ring)</Polygon>")
        func link(_ address: String) -> String {
            Self.kml("<NetworkLink><Link><href>\(address)</href></Link></NetworkLink>")
        }
        let other = Self.line("1,1 2,2")
        for isPacked in [true, false] {
            let plain = ZipSample.archive([("a.kml", other), ("doc.kml", area)], isPacked: isPacked)
            #expect(try Read.shape(bytes: plain).polygons.count == 1)
            let first = ZipSample.archive([("x.png", "x"), ("files/a.kml", area)], isPacked: isPacked)
            #expect(try Read.shape(bytes: first).polygons.count == 1)
            // As GDAL writes it, and a circle of links.
            let linked = ZipSample.archive(
                [("doc.kml", link("layers/b.kml")), ("layers/b.kml", link("../doc.kml")), ("c.kml", area)],
                isPacked: isPacked)
            #expect(Read.refusal(bytes: linked).contains("no coordinates"))
            let whole = ZipSample.archive(
                [("doc.kml", link("layers/b.kml")), ("layers/b.kml", link("../c.kml")), ("c.kml", area)],
                isPacked: isPacked)
            #expect(try Read.shape(bytes: whole).polygons.count == 1)
            for address in ["http://127.0.0.1/a.kml", "/c.kml", "../c.kml", "none.kml", "file:c.kml", ""] {
                let outside = ZipSample.archive([("doc.kml", link(address)), ("c.kml", area)], isPacked: isPacked)
                #expect(Read.refusal(bytes: outside).contains("'doc.kml', line 1: a NetworkLink names"))
            }
        }
    }

    @Test func damagedArchivesAndBombsAreRefused() throws {
        let good = ZipSample.archive([("doc.kml", Self.line("1,1 2,2"))], isPacked: true)
        #expect(Read.lines(try Read.shape(bytes: good)).count == 1)
        for length in 4..<good.count {
            #expect(Read.refusal(bytes: Array(good.prefix(length))).hasPrefix("the ZIP archive"), "\(length)")
        }
        for place in good.indices.dropFirst(4) {
            var bytes = good
            bytes[place] ^= 0x41
            _ = Read.refusal(bytes: bytes)
        }
        // 100 MB of spaces in 100 kB: refused by what the directory says, and when it lies.
        let packed = ZipSample.deflated([UInt8](repeating: 0x20, count: 100_000_000))
        #expect(packed.count < 200_000)
        for claimed in [100_000_000, 1_000] {
            let bomb = ZipSample.archive(name: "doc.kml", packed: packed, unpacked: claimed, crc: 0, method: 8)
            let message = Read.refusal(bytes: bomb)
            #expect(message.contains(claimed == 1_000 ? "does not unpack to" : "the limit is 64 MiB"), "\(message)")
        }
        let none = ZipSample.archive([("a.txt", "x")], isPacked: false)
        #expect(Read.refusal(bytes: none).contains("contains no .kml file"))
    }
}
