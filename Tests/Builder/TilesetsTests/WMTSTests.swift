import Errors
import Foundation
import Testing
import TileBodies
import Tiles

@testable import Tilesets

/// Capabilities as services write them, made here.
struct WMTSTests {
    /// A grid; the scale of zoom 0 in the standard's pixel of 0.28 mm.
    static func grid(
        _ id: String, system: String = "urn:ogc:def:crs:EPSG::3857", zooms: ClosedRange<Int> = 0...18, size: Int = 256,
        corner: String = "-2.003750834278925E7 2.0037508342789248E7", scale: Double = 559_082_264.028717,
        name: (Int) -> String = { "\($0)" }
    ) -> String {
        let matrices = zooms.map { zoom in
            """
            <TileMatrix><ows:Identifier>\(name(zoom))</ows:Identifier>
            <ScaleDenominator>\(scale / Double(1 << zoom) * 256 / Double(size))</ScaleDenominator>
            <TopLeftCorner>\(corner)</TopLeftCorner><TileWidth>\(size)</TileWidth><TileHeight>\(size)</TileHeight>
            <MatrixWidth>\(1 << zoom)</MatrixWidth><MatrixHeight>\(max(1, (1 << zoom) - 1))</MatrixHeight></TileMatrix>
            """
        }
        return """
            <TileMatrixSet><ows:Identifier>\(id)</ows:Identifier><ows:SupportedCRS>\(system)</ows:SupportedCRS>
            \(matrices.joined(separator: "\n"))</TileMatrixSet>
            """
    }

    static func layer(
        _ id: String, grids: [String], formats: [String] = ["image/png"], style: String = "default", more: String = "",
        limits: [String] = []
    ) -> String {
        let links = grids.map { grid in
            let named = limits.map {
                "<TileMatrixLimits><TileMatrix>\($0)</TileMatrix><MinTileRow>0</MinTileRow></TileMatrixLimits>"
            }
            let list = named.isEmpty ? "" : "<TileMatrixSetLimits>\(named.joined())</TileMatrixSetLimits>"
            return "<TileMatrixSetLink><TileMatrixSet>\(grid)</TileMatrixSet>\(list)</TileMatrixSetLink>"
        }
        return """
            <Layer><ows:Title>Layer \(id)</ows:Title>
            <ows:WGS84BoundingBox><ows:LowerCorner>5.9 45.8</ows:LowerCorner><ows:UpperCorner>10.5 47.8</ows:UpperCorner></ows:WGS84BoundingBox>
            <ows:Identifier>\(id)</ows:Identifier>
            <Style><ows:Identifier>other</ows:Identifier></Style>
            <Style isDefault="true"><ows:Title>t</ows:Title><ows:Identifier>\(style)</ows:Identifier></Style>
            \(formats.map { "<Format>\($0)</Format>" }.joined())\(links.joined())\(more)</Layer>
            """
    }

    static func document(_ parts: [String], address: String = "http://10.0.0.1/wmts?map=a") -> [UInt8] {
        let head = """
            <?xml version="1.0" encoding="UTF-8"?>
            <Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" version="1.0.0">
            <ows:ServiceIdentification><ows:Title>Service</ows:Title></ows:ServiceIdentification>
            <ows:OperationsMetadata>
            <ows:Operation name="GetCapabilities"><ows:DCP><ows:HTTP><ows:Get xlink:href="http://10.0.0.9/c"/></ows:HTTP></ows:DCP></ows:Operation>
            <ows:Operation name="GetTile"><ows:DCP><ows:HTTP><ows:Get xlink:href="\(address.replacing("&", with: "&amp;"))">
            <ows:Constraint name="GetEncoding"><ows:AllowedValues><ows:Value>KVP</ows:Value></ows:AllowedValues></ows:Constraint>
            </ows:Get></ows:HTTP></ows:DCP></ows:Operation></ows:OperationsMetadata>
            <Contents>
            """
        return Array((head + parts.joined(separator: "\n") + "</Contents></Capabilities>").utf8)
    }

    private func metadata(
        _ parts: [String], layer: String? = "roads", format: TileFormat? = nil, address: String = "http://10.0.0.1/wmts"
    ) throws -> SourceMetadata {
        try WMTSCapabilities(xml: Self.document(parts)).metadata(layer: layer, format: format, address: address)
    }

    private func asked(_ metadata: SourceMetadata, _ zoom: Int = 3) throws -> String {
        let tile = try #require(TileID(zoom: zoom, x: 2, y: 1))
        return try URLTemplate(metadata.templates[0]).expand(tile)
    }

    @Test func parametersAreThoseOfTheService() throws {
        let found = try metadata(
            [
                Self.layer("roads", grids: ["swiss", "GoogleMapsCompatible"]), Self.grid("swiss", system: "EPSG:2056"),
                Self.grid("GoogleMapsCompatible"),
            ],
            address: "http://10.0.0.1/wmts?token={key}&request=GetCapabilities")
        #expect(
            try asked(found)
                == "http://10.0.0.1/wmts?map=a&token=&service=WMTS&request=GetTile&version=1.0.0&layer=roads&style=default&format=image%2Fpng&tilematrixset=GoogleMapsCompatible&tilematrix=3&tilerow=1&tilecol=2"
        )
        #expect(found.format == .png && found.zooms == ZoomRange(min: 0, max: 18) && found.tileSize == 256)
        #expect(found.bounds?.west == 5.9 && found.bounds?.north == 47.8 && found.name == "Layer roads")
        #expect(found.remarks.isEmpty, "\(found.remarks)")
    }

    @Test func templatesAreTakenFirst() throws {
        let resource = """
            <Dimension><ows:Identifier>Time</ows:Identifier><Default>2020-01-01</Default></Dimension>
            <ResourceURL format="image/jpeg" resourceType="tile" template="http://10.0.0.2/{Style}/{TIME}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.jpeg"/>
            <ResourceURL format="text/plain" resourceType="FeatureInfo" template="http://10.0.0.2/info"/>
            """
        let found = try metadata([
            Self.layer("roads", grids: ["PM"], formats: ["image/jpeg"], style: "", more: resource), Self.grid("PM"),
        ])
        #expect(try asked(found) == "http://10.0.0.2//2020-01-01/PM/3/1/2.jpeg")
        #expect(found.format == .jpeg)
        #expect(found.remarks == ["The capabilities of 10.0.0.1 name 10.0.0.2 as the server of the tiles."])
    }

    /// What services call their matrices, and their grids' peculiarities.
    @Test(arguments: [
        (grid("g", system: "EPSG:900913", name: { "EPSG:900913:\($0)" }), "tilematrix=EPSG:900913:3", 0...18),
        (grid("g", name: { ($0 < 10 ? "0" : "") + "\($0)" }), "tilematrix=03", 0...18),
        (grid("g", zooms: 2...19, name: { "\($0 - 2)" }), "tilematrix=1", 2...19),
        (grid("g", size: 512), "tilematrix=3", 0...18),
        (grid("g", corner: "-2.003750834E7 2.0037508E7"), "tilematrix=3", 0...18),
        (grid("g", corner: "20037508.3427892 -20037508.3427892"), "tilematrix=3", 0...18),
        (grid("g", system: "http://www.opengis.net/def/crs/EPSG/0/3857"), "tilematrix=3", 0...18),
        (grid("g", system: "urn:ogc:def:crs:EPSG:6.18.3:3857"), "tilematrix=3", 0...18),
        (grid("g", zooms: 0...30), "tilematrix=3", 0...22),
        (grid("g", scale: 559_082_264.029), "tilematrix=3", 0...18),
    ])
    func gridsOfTheFieldAreRead(grid: String, expected: String, zooms: ClosedRange<Int>) throws {
        let found = try metadata([Self.layer("roads", grids: ["g"]), grid])
        #expect(try asked(found).contains(expected + "&"), "\(found.templates)")
        #expect(found.zooms == ZoomRange(min: zooms.lowerBound, max: zooms.upperBound))
        #expect(found.tileSize == (grid.contains("<TileWidth>512") ? 512 : 256))
    }

    @Test func limitsNarrowTheZooms() throws {
        let some = try metadata([Self.layer("roads", grids: ["g"], limits: ["5", "6", "7"]), Self.grid("g")])
        #expect(some.zooms == ZoomRange(min: 5, max: 7))
        // Limits that name no matrix of the grid are passed over.
        let wrong = try metadata([Self.layer("roads", grids: ["g"], limits: ["EPSG:3857:5"]), Self.grid("g")])
        #expect(wrong.zooms == ZoomRange(min: 0, max: 18))
    }

    @Test func theFormatOfTheFileIsTaken() throws {
        let parts = [
            Self.layer("roads", grids: ["g"], formats: ["image/gif", "image/png", "image/jpeg"]), Self.grid("g"),
        ]
        #expect(try metadata(parts).format == .png)
        #expect(try metadata(parts, format: .jpeg).templates[0].contains("format=image%2Fjpeg"))
        let error = #expect(throws: TilesetsError.self) { try metadata(parts, format: .webp) }
        #expect(error?.message.contains("'image/gif', 'image/png', 'image/jpeg'") == true, "\(error?.message ?? "")")
    }

    @Test func dimensionsWithoutAValueAreNamed() throws {
        let time = "<Dimension><ows:Identifier>Time</ows:Identifier><Default>current</Default></Dimension>"
        let found = try metadata([Self.layer("roads", grids: ["g"], more: time), Self.grid("g")])
        #expect(found.templates[0].contains("time=current") && found.remarks.contains { $0.contains("'Time'") })
    }

    @Test(arguments: [
        (grid("g", system: "EPSG:4326"), "is in EPSG:4326"), (grid("g", corner: "0 0"), "begins at 0.0 0.0"),
        (grid("g", scale: 500_000_000), "other scales"), (grid("g", size: 300), "300 × 300"),
        (grid("other"), "'g' is not described"),
        ("<TileMatrixSet><ows:Identifier>g</ows:Identifier></TileMatrixSet>", "names no"),
    ])
    func aGridThatIsNoneIsRefusedWithItsReason(grid: String, reason: String) throws {
        let good = Self.layer("good", grids: ["m"])
        let error = #expect(throws: TilesetsError.self) {
            try metadata([Self.layer("roads", grids: ["g"]), good, grid, Self.grid("m")])
        }
        #expect(error?.code == .badService && error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("Layers with one: 'good'") == true, "\(error?.message ?? "")")
    }

    @Test func aLayerMustBeNamed() throws {
        let two = [Self.layer("roads", grids: ["g"]), Self.layer("water", grids: ["g"]), Self.grid("g")]
        let none = #expect(throws: TilesetsError.self) { try metadata(two, layer: nil) }
        #expect(none?.message.contains("'roads', 'water'") == true, "\(none?.message ?? "")")
        let near = #expect(throws: TilesetsError.self) { try metadata(two, layer: "raods") }
        #expect(near?.message.contains("did you mean 'roads'?") == true, "\(near?.message ?? "")")
        #expect(try metadata([two[0], two[2]], layer: nil).name == "Layer roads")
    }

    @Test(arguments: [
        ("<html><body>no</body></html>", "<html>"), ("", "no element"),
        ("<Capabilities><Contents><Layer>", "ends inside"),
        ("<WMS_Capabilities/>", "bbox={bbox-epsg-3857}"), ("<Capabilities/>", "no layer"),
        ("<!DOCTYPE a [<!ENTITY b \"c\">]><Capabilities/>", "document type"), ("{\"a\":1}", "outside"),
        (
            "<ows:ExceptionReport xmlns:ows=\"x\"><ows:Exception exceptionCode=\"NoApplicableCode\"><ows:ExceptionText>Away &amp; gone</ows:ExceptionText></ows:Exception></ows:ExceptionReport>",
            "NoApplicableCode: Away & gone"
        ),
    ])
    func otherDocumentsAreRefused(text: String, reason: String) throws {
        let error = #expect(throws: TilesetsError.self) { try WMTSCapabilities(xml: Array(text.utf8)) }
        #expect(error?.code == .badService && error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func theAddressOfTheCapabilitiesIsCompleted() {
        let made = WMTSCapabilities.address
        #expect(made("http://h/wmts#a") == "http://h/wmts?service=WMTS&request=GetCapabilities&version=1.0.0")
        #expect(
            made("http://h/ms?map=x#a") == "http://h/ms?map=x&service=WMTS&request=GetCapabilities&version=1.0.0")
        #expect(made("http://h/1.0.0/WMTSCapabilities.xml#a") == "http://h/1.0.0/WMTSCapabilities.xml")
        #expect(made("http://h/w?REQUEST=GetCapabilities#a") == "http://h/w?REQUEST=GetCapabilities")
    }
}
