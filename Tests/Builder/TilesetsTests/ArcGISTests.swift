import Errors
import Foundation
import Testing
import TileBodies
import Tiles

@testable import Tilesets

/// Descriptions of services of ArcGIS, made here in their form.
struct ArcGISTests {
    private static let address = "http://10.0.0.1/arcgis/rest/services/World/MapServer"

    private static func levels(_ zooms: ClosedRange<Int>, from first: Int = 0, size: Double = 256) -> String {
        zooms.map { zoom in
            let resolution = 156_543.03392800014 / Double(1 << zoom) * 256 / size
            return "{\"level\":\(zoom - first),\"resolution\":\(resolution),\"scale\":1}"
        }.joined(separator: ",")
    }

    private static func json(
        format: String = "JPEG", wkid: Int = 102_100, lods: String = ArcGISTests.levels(0...19), size: Int = 256,
        origin: String = "{\"x\":-2.0037508342787E7,\"y\":2.0037508342787E7}", more: String = ""
    ) -> [UInt8] {
        Array(
            """
            {"mapName":"World","copyrightText":"© somebody","description":"",
            "fullExtent":{"xmin":-20037508.34,"ymin":-10018754,"xmax":20037508.34,"ymax":10018754,"spatialReference":{"wkid":102100,"latestWkid":3857}},
            "tileInfo":{"rows":\(size),"cols":\(size),"dpi":96,"format":"\(format)","origin":\(origin),
            "spatialReference":{"wkid":\(wkid)},"lods":[\(lods)]}\(more)}
            """.utf8)
    }

    @Test func aServiceIsItsTiles() throws {
        let found = try ArcGISService.metadata(json: Self.json(), address: Self.address + "/?token={key}")
        #expect(found.templates == [Self.address + "/tile/{z}/{y}/{x}?blankTile=false&token={key}"])
        #expect(found.format == .jpeg && found.zooms == ZoomRange(min: 0, max: 19) && !found.mixesPictures)
        #expect(found.name == "World" && found.attribution == "© somebody" && found.description == nil)
        let north = try #require(found.bounds?.north)
        #expect(abs(north - 66.51326) < 1e-4)
        #expect(ArcGISService.address(Self.address) == Self.address + "?f=json")
    }

    @Test func levelsMayBeNumberedOtherwise() throws {
        let found = try ArcGISService.metadata(
            json: Self.json(format: "MIXED", lods: Self.levels(5...8, from: 5)), address: Self.address)
        #expect(found.templates == [Self.address + "/tile/{z:5=0,1,2,3}/{y}/{x}?blankTile=false"])
        #expect(found.mixesPictures && found.zooms == ZoomRange(min: 5, max: 8))
    }

    @Test func vectorTilesAreNamedByTheService() throws {
        let found = try ArcGISService.metadata(
            json: Self.json(
                lods: Self.levels(0...16, size: 512), size: 512, more: #","tiles":["tile/{z}/{y}/{x}.pbf"]"#),
            address: Self.address)
        #expect(found.templates == [Self.address + "/tile/{z}/{y}/{x}.pbf"] && found.format == .mvt)
    }

    @Test(arguments: [
        (json(wkid: 2056), "2056"), (json(origin: "{\"x\":0,\"y\":0}"), "corner"), (json(size: 300), "256 or 512"),
        (json(lods: ""), "levels"),
        (json(lods: "{\"level\":1e300,\"resolution\":1e300},{\"level\":0,\"resolution\":7}"), "levels"),
        (Array("<html>".utf8), "no JSON"), (Array("{}".utf8), "/export?bbox={bbox-epsg-3857}"),
        (Array(#"{"error":{"code":499,"message":"Token Required","details":[]}}"#.utf8), "499: Token Required"),
        (Array(#"{"tileInfo":{"spatialReference":{"wkid":1e300}}}"#.utf8), "1e+300"),
    ])
    func othersAreRefusedWithTheReason(json: [UInt8], reason: String) throws {
        let error = #expect(throws: TilesetsError.self) {
            try ArcGISService.metadata(json: json, address: Self.address)
        }
        #expect(error?.code == .badService && error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
}
