import Errors
import Foundation
import Testing
import TileBodies
import Tiles
import Tilesets

struct URLTemplateTests {
    private func tile() throws -> TileID { try #require(TileID(zoom: 3, x: 5, y: 1)) }

    @Test func everyPlaceholderIsFilled() throws {
        let text = "https://{s}.example.org/{language}/{z}/{x}/{y}/{-y}/{q}?key={key}"
        let template = try URLTemplate(text, subdomains: ["one", "two"])
        let url = template.expand(try tile(), language: "de", key: "a/b&c d\u{E9}")
        #expect(url == "https://one.example.org/de/3/5/1/6/103?key=a%2Fb%26c%20d%C3%A9")
        #expect(template.needsKey && template.needsLanguage)
    }

    @Test func tmsCountsRowsFromTheSouth() throws {
        let template = try URLTemplate("http://localhost/{z}/{x}/{y}.png", rowOrder: .tms)
        #expect(template.expand(try tile()) == "http://localhost/3/5/6.png")
    }

    @Test func aTileHasTheSameSubdomainEveryTime() throws {
        let template = try URLTemplate("http://{s}.localhost/{z}/{x}/{y}")
        #expect(template.expand(try tile()) == template.expand(try tile()))
        let hosts = Set((0..<3).compactMap { TileID(zoom: 3, x: $0, y: 0) }.map { template.expand($0).prefix(9) })
        #expect(hosts.count == 3)
    }

    @Test(arguments: [
        ("http://h/{0}/{1}/{3}.png", "write {z}, {x} and {y}"),
        ("http://h/{z}/{x}/{y}.png?k=${MAPS_KEY}", "write {key}"),
        ("http://{rnd}.h/{z}/{x}/{y}.png", "subdomains"), ("http://h/{z}.png?bbox={bbox}", "write {bbox-epsg-3857}"),
        ("http://h/{TileMatrixSet}/{z}/{y}/{x}.png", "wmts:URL#layer"),
        ("http://h/{z}/{x}/{y}.png?token={accessToken}", "write {key}"),
    ])
    func placeholdersOfOtherProgramsSayWhatToWrite(text: String, hint: String) throws {
        let error = #expect(throws: TilesetsError.self) { try URLTemplate(text) }
        #expect(error?.code == .badTemplate && error?.message.contains(hint) == true, "\(error?.message ?? "")")
        // As the value of --tileset too: none of them is taken for a TileJSON document.
        let file = #expect(throws: TilesetsError.self) {
            try TilesetFile(source: text, folder: URL(fileURLWithPath: "/")).resolved()
        }
        #expect(file?.message.contains(hint) == true, "\(file?.message ?? "")")
    }

    @Test(arguments: ["http://localhost/%7Bz%7D/%7bx%7d/%7By%7D.png", "http://localhost/%7Bz%7D/{x}/{y}.png"])
    func escapedBracesArePlain(text: String) throws {
        let tileset = try TilesetFile(source: text, folder: URL(fileURLWithPath: "/")).resolved()
        #expect(tileset.source == TileSource(.templates, "http://localhost/{z}/{x}/{y}.png"))
        #expect(tileset.format == .png)
        let document = #"{"tiles":["\#(text)"],"maxzoom":3}"#
        let metadata = try SourceMetadata(tileJSON: Array(document.utf8), from: "http://localhost/t.json")
        #expect(metadata.templates == ["http://localhost/{z}/{x}/{y}.png"])
    }

    @Test(arguments: [
        ("http://localhost/{z}/{x}/{y}.jxl", "", "JPEG XL"),
        ("http://localhost/{z}/{x}/{y}", "format: image/heic", "HEIC"),
        ("http://localhost/{z}/{x}/{y}.GIF", "", "GIF"),
    ])
    func aFormatThatIsNotSupportedIsNamed(url: String, more: String, name: String) throws {
        let error = #expect(throws: TilesetsError.self) {
            try TilesetFile(text: "url: \(url)\n\(more)", name: "t", folder: URL(fileURLWithPath: "/")).resolved()
        }
        let message = error?.message ?? ""
        #expect(message.contains(name) && message.contains("support") && !message.contains("add format"), "\(message)")
    }

    @Test(arguments: [
        ("http://localhost/{z}/{x}.png", "lacks {y} or {-y}."), ("http://localhost/{y}", "lacks {z}, {x}."),
        ("http://localhost/{z}/{x}/{y", "}"),
        ("http://localhost/{z}/{x}/{yy}", "{y}"), ("http://localhost/{z}/{x}/{y}?k={kye}", "{key}"),
        ("/tiles/{z}/{x}/{y}", "http"),
    ])
    func aBadTemplateIsNamed(text: String, hint: String) {
        let error = #expect(throws: TilesetsError.self) { try URLTemplate(text) }
        #expect(error?.code == .badTemplate)
        #expect(error?.message.contains(hint) == true)
    }
}
