import Errors
import Testing
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
        let template = try URLTemplate("http://localhost/{z}/{x}/{y}.png", scheme: .tms)
        #expect(template.expand(try tile()) == "http://localhost/3/5/6.png")
    }

    @Test func aTileHasTheSameSubdomainEveryTime() throws {
        let template = try URLTemplate("http://{s}.localhost/{z}/{x}/{y}")
        #expect(template.expand(try tile()) == template.expand(try tile()))
        let hosts = Set((0..<3).compactMap { TileID(zoom: 3, x: $0, y: 0) }.map { template.expand($0).prefix(9) })
        #expect(hosts.count == 3)
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
