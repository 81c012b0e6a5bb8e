import Errors
import Foundation
import Testing

@testable import StyleFormat
@testable import Styles

/// What a style needs, read from its text alone.
struct StyleReadingTests {
    @Test(arguments: [
        (#"["A", "B"]"#, ["A,B"]),
        (#"{"stops": [[0, ["A"]], [5, ["B", "C"]]]}"#, ["A", "B,C"]),
        (#"{"property": "x", "stops": [[1, ["A"]]], "default": ["D"]}"#, ["A", "D"]),
        (#"["literal", ["A", "B"]]"#, ["A,B"]),
        (#"["step", ["zoom"], ["literal", ["A"]], 5, ["literal", ["B"]], 9, ["literal", ["C"]]]"#, ["A", "B", "C"]),
        (
            #"["match", ["get", "k"], ["x", "y"], ["literal", ["A"]], "z", ["literal", ["B"]], ["literal", ["C"]]]"#,
            ["A", "B", "C"]
        ),
        // The list in a condition is no font.
        (
            #"["case", ["in", ["get", "k"], ["literal", ["no", "font"]]], ["literal", ["A"]], ["literal", ["B"]]]"#,
            ["A", "B"]
        ),
        (#"["coalesce", ["literal", ["A"]], ["literal", ["B"]]]"#, ["A", "B"]),
        (#"["let", "f", ["literal", ["A"]], ["case", true, ["var", "f"], ["literal", ["B"]]]]"#, ["A", "B"]),
        (#"["array", "string", 1, ["literal", ["A"]]]"#, ["A"]),
    ])
    func fontsAreFound(font: String, stacks: [String]) throws {
        let found = try style(font: font)
        #expect(found.fontStacks.map(\.joined) == stacks)
    }

    @Test func fontsThatAreComputedAreTold() throws {
        let found = try style(font: #"["coalesce", ["get", "font"], ["literal", ["A"]]]"#)
        #expect(found.fontStacks.map(\.joined) == ["A"])
        #expect(found.undecidedFonts == ["names"])
        #expect(try style(font: #"["get", "font"]"#).undecidedFonts == ["names"])
    }

    @Test func fontsOfPartsOfATextAndTheStandardOnesCount() throws {
        let parts = try style(font: #"["A"]"#, field: #"["format", "x", {"text-font": ["literal", ["B"]]}, "y", {}]"#)
        #expect(parts.fontStacks.map(\.joined) == ["A", "B"])
        let silent = try document(
            """
            {"glyphs": "http://a/{fontstack}/{range}", "sources": {}, "layers": [
              {"id": "a", "type": "symbol", "layout": {"text-field": "x"}},
              {"id": "b", "type": "symbol", "layout": {"icon-image": "x", "text-font": ["Unused"]}},
              {"id": "c", "type": "line", "layout": {"text-field": "x", "text-font": ["Unused"]}}]}
            """)
        #expect(silent.fontStacks == [.standard])
    }

    /// 256 ranges, or the 131 that every client counts as needed.
    @Test func rangesOfIdeographsAreLeftOut() {
        let kept = GlyphRanges.starts(ideographs: false)
        #expect(GlyphRanges.starts(ideographs: true).count == 256 && kept.count == 131)
        #expect(!kept.contains(0x4E00) && !kept.contains(0x9F00) && !kept.contains(0xAC00) && !kept.contains(0xD600))
        #expect(kept.contains(0x3000) && kept.contains(0x4D00) && kept.contains(0xA000) && kept.contains(0xD700))
    }

    /// As the client computes it: lower-case digits (docs/formats/maplibre-offline.md, "Addresses").
    @Test func glyphAddressesAreTheClients() {
        let stack = FontStack(["Open Sans Regular", "Arial Unicode MS Regular"])
        #expect(
            GlyphRanges.url("/f/{fontstack}/{range}.pbf", stack: stack, start: 0)
                == "/f/Open%20Sans%20Regular%2cArial%20Unicode%20MS%20Regular/0-255.pbf")
        #expect(GlyphRanges.encoded("é_~-.") == "%c3%a9_~-.")
    }

    @Test func everyKindOfResourceIsListed() throws {
        let needs = try StyleNeeds(
            try document(StyleServer.style), base: "http://h/s/style.json", choice: StyleChoice())
        let byURL = Dictionary(uniqueKeysWithValues: needs.resources.map { ($0.url, $0) })
        #expect(needs.resources.count == 1 + 1 + 1 + 4 + 131)
        #expect(byURL["http://h/s/map.json"]?.kind == .source)
        #expect(byURL["http://h/spots.geojson"]?.kind == .data)
        #expect(byURL["http://h/photo.png"]?.path == "images/photo.png")
        #expect(byURL["http://h/s/art/sprite@2x.json?v=2"]?.path == "sprites/default/sprite@2x.json")
        #expect(byURL["http://h/s/fonts/A%20Font%2cB/65280-65535.pbf"]?.path == "glyphs/A Font,B/65280-65535.pbf")
        #expect(needs.notes.count == 1 && needs.notes[0].contains("clip"))
        let wide = try StyleNeeds(
            try document(StyleServer.style), base: "http://h/s/style.json",
            choice: StyleChoice(ideographs: true, pixelRatios: [1]))
        #expect(wide.resources.count == 3 + 2 + 256)
    }

    @Test func severalSpritesAndFontFilesAreListed() throws {
        let style = try document(
            """
            {"sources": {}, "layers": [], "sprite": [{"id": "a", "url": "http://h/a"}, {"id": "b", "url": "http://h/b"}],
             "font-faces": {"F": "http://h/f.ttf", "G": [{"url": "http://h/g.otf", "unicode-range": ["U+1780"]}]}}
            """)
        let urls = try StyleNeeds(style, base: nil, choice: StyleChoice(pixelRatios: [2])).resources.map(\.url)
        #expect(
            urls == [
                "http://h/a@2x.json", "http://h/a@2x.png", "http://h/b@2x.json", "http://h/b@2x.png", "http://h/f.ttf",
                "http://h/g.otf",
            ])
    }

    @Test(arguments: [
        ("http://x/y", "http://x/y"), ("//x/y?z", "http://x/y?z"), ("/y", "http://h:1/y"), ("y", "http://h:1/a/b/y"),
        ("../y", "http://h:1/a/y"), ("../../../y", "http://h:1/y"), ("./y/./z/..", "http://h:1/a/b/y/"),
        ("?k=1", "http://h:1/a/b/c?k=1"), ("y#part", "http://h:1/a/b/y"),
        ("{z}/{x}/{y}.pbf", "http://h:1/a/b/{z}/{x}/{y}.pbf"),
        ("y?u=http://x/../z", "http://h:1/a/b/y?u=http://x/../z"),
    ])
    func referencesAreResolved(reference: String, url: String) throws {
        #expect(try URLReference.resolve(reference, against: "http://h:1/a/b/c?q=2") == url)
    }

    @Test(arguments: [
        "mapbox://styles/x", "file:///etc/passwd", "pmtiles://a", "", "a b", "javascript:alert(1)", "ftp://h/x",
    ])
    func otherReferencesAreRefused(reference: String) {
        #expect { try URLReference.resolve(reference, against: "http://h/") } throws: {
            ($0 as? StylesError)?.code == .badURL
        }
    }

    /// Names become parts of paths, whatever is in them.
    @Test func namesStayInsideThePack() {
        let names = [
            "..", ".", "", "a/b", "a\\b", "%2e", "\u{0}", "a%2Fb", "é", " a ", String(repeating: "x/", count: 500),
        ]
        let parts = names.map(PackPath.part)
        #expect(Set(parts).count == names.count)
        for part in parts {
            #expect(PackPath.isInside(part) && !part.contains("/") && part.utf8.count <= 200, "\(part)")
        }
        for path in ["../x", "/x", "a//b", "a/../b", "", "a/\u{1}"] { #expect(!PackPath.isInside(path), "\(path)") }
    }
}
