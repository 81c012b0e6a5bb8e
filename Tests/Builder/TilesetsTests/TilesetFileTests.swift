import Errors
import Foundation
import Testing
import TileBodies
import Tiles
import Tilesets

struct TilesetFileTests {
    private let folder = URL(fileURLWithPath: "/maps")

    private func file(_ text: String) throws -> TilesetFile {
        try TilesetFile(text: text, name: "toner.yaml", folder: folder)
    }

    private func failure(_ text: String) -> TilesetsError? {
        do {
            _ = try file(text).resolved()
            return nil
        } catch {
            return error as? TilesetsError
        }
    }

    private let full = """
        id: streets.v1
        name: Streets
        url: ["https://{s}.tiles.example.org/{language}/{z}/{x}/{y}.pbf?key={key}"]
        subdomains: [a, b]
        zoom: 0-14
        bounds: [5.9, 45.8, 10.5, 47.8]
        attribution: "© somebody"
        headers:
          Authorization: "Bearer ${TOKEN}"
          X-Client: packhorse
        key: ${KEY}
        language: de
        http2: true
        politeness: {concurrency: 4, requests_per_second: 12.5, contact: maps@example.org}
        timeouts: {connect: 3, total: 30}
        """

    @Test func everyKeyIsRead() throws {
        let tileset = try file(full).resolved()
        #expect(tileset.id == "streets.v1" && tileset.format == .mvt && tileset.http2)
        #expect(tileset.zooms.description == "0-14")
        #expect(tileset.bounds?.west == 5.9)
        #expect(tileset.politeness.concurrency == 4 && tileset.politeness.requestsPerSecond == 12.5)
        #expect(tileset.politeness.effectiveUserAgent == "Packhorse/0.1 (+maps@example.org)")
        #expect(tileset.politeness.connectSeconds == 3 && tileset.politeness.stallSeconds == 20)
        #expect(tileset.keyEnvironment == "KEY" && tileset.language == "de")
    }

    @Test func aTileURLThatTellsNoZoomsHasThoseOfMapLibre() throws {
        #expect(try file("url: http://localhost/{z}/{x}/{y}.png").resolved().zooms.description == "0-22")
        let direct = try TilesetFile(
            source: "https://a.example/{z}/{x}/{y}.png", folder: folder, contact: "me@b.example")
        #expect(try direct.resolved().politeness.contact == "me@b.example")
    }

    @Test func layersAreChosenAmongThoseThatTheSourceHas() throws {
        let text =
            "url: pmtiles:a.pmtiles\nlayers: [water, roads]\noverfetch: 0.2\npoliteness: {bytes_per_second: 20000}"
        var metadata = SourceMetadata()
        metadata.format = .mvt
        metadata.zooms = ZoomRange(min: 0, max: 3)
        metadata.vectorLayers = #"[{"id":"houses"},{"id":"roads"},{"id":"water"}]"#
        let tileset = try file(text).resolved(metadata: metadata)
        #expect(tileset.layers == ["roads", "water"] && tileset.vectorLayers == #"[{"id":"roads"},{"id":"water"}]"#)
        #expect(tileset.overfetch == 0.2 && tileset.politeness.bytesPerSecond == 20_000)
        #expect(try Tileset(canonicalJSON: tileset.canonicalJSON) == tileset)
        let wrong = #expect(throws: TilesetsError.self) {
            try file(text.replacing("roads", with: "raods")).resolved(metadata: metadata)
        }
        #expect(wrong?.message.contains("'raods'; did you mean 'roads'?") == true, "\(wrong?.message ?? "")")
        metadata.format = .png
        let picture = #expect(throws: TilesetsError.self) { try file(text).resolved(metadata: metadata) }
        #expect(picture?.message.contains("only for vector tiles") == true, "\(picture?.message ?? "")")
    }

    @Test func bandsOfTilePacksComeFromTheFileElseFromTheSource() throws {
        let source = "url: https://t.example/t.json\nid: t\npoliteness: {contact: maps@example.org}\n"
        func document(_ bands: String) -> [UInt8] {
            Array(
                #"{"tiles":["https://t.example/{z}/{x}/{y}.pbf"],"minzoom":0,"maxzoom":14,"packhorse:tile_packs":\#(bands)}"#
                    .utf8)
        }
        let list = #"[{"minzoom":0,"maxzoom":4},{"minzoom":5,"maxzoom":9,"index_zoom":3}]"#
        #expect(try file(source).resolved(tileJSON: document(list)).packs?.description == "0-4@0,5-9@3")
        #expect(try file(source).resolved(tileJSON: document(#""0-5@0""#)).packs?.description == "0-5@0")
        let own = try file(source + "tile_packs: 0-8@0").resolved(tileJSON: document(list))
        #expect(own.packs?.description == "0-8@0")
        let listed = try file(source + "tile_packs:\n  - {minzoom: 2, maxzoom: 4, index_zoom: 1}\n").resolved(
            tileJSON: document(list))
        #expect(listed.packs?.description == "2-4@1")
        // They say how packages are published, not what tiles are: what was fetched is shared.
        #expect(own.canonicalJSON == listed.canonicalJSON)
        for bands in [
            "1", "[]", "[{}]", #"[{"minzoom":3,"maxzoom":1}]"#, #""0-5""#,
            #"[{"minzoom":0,"maxzoom":5,"index_zoom":1}]"#,
            #"[{"minzoom":0.5,"maxzoom":5}]"#, #"[{"minzoom":0,"maxzoom":99}]"#,
        ] {
            let error = #expect(throws: TilesetsError.self, "\(bands)") {
                try file(source).resolved(tileJSON: document(bands))
            }
            #expect(error?.code == .badTileJSON && error?.message.contains("packhorse:tile_packs") == true)
        }
        #expect(throws: TilesetsError.self) { try file(source + "tile_packs: [1]") }
    }

    @Test func anAddressHasOneSecretAtMost() throws {
        let plain = try SecretAddress("https://m.example/s.json?k={key}")
        #expect(plain.variable == nil && plain.url.hasSuffix("{key}"))
        let keyed = try SecretAddress("https://m.example/s.json?k=${MAPS}&again=${MAPS}")
        #expect(keyed.variable == "MAPS" && keyed.url == "https://m.example/s.json?k={key}&again={key}")
        #expect(try keyed.key(environment: ["MAPS": "secret"]) == "secret")
        let missing = #expect(throws: TilesetsError.self) { try keyed.key(environment: [:]) }
        #expect(missing?.code == .missingSecret && missing?.message.contains("MAPS") == true)
        for text in ["https://m/${A}${B}", "https://m/${A}/{key}", "https://m/${", "https://m/${1}"] {
            #expect(throws: TilesetsError.self, "\(text)") { try SecretAddress(text) }
        }
    }

    @Test func anotherLanguageIsAnotherTilesetAndAGroupIsNoPartOfIt() throws {
        let open = try file(full.replacing("language: de\n", with: ""))
        #expect(open.hasLanguages && open.language == nil && open.group == nil)
        let (german, french) = (open.inLanguage("de"), open.inLanguage("fr"))
        #expect(try german.resolved() == file(full).resolved())
        #expect(try german.resolved().canonicalJSON != french.resolved().canonicalJSON)
        let grouped = try file(full + "\ngroup: terrain")
        #expect(grouped.group == "terrain")
        #expect(try grouped.resolved().canonicalJSON == file(full).resolved().canonicalJSON)
        #expect(try !file("url: mbtiles:planet.mbtiles").hasLanguages)
        #expect(try file("url: https://a.example/{language}/tiles.json").hasLanguages)
    }

    @Test func theCanonicalFormIsStableAndHoldsNoSecret() throws {
        let tileset = try file(full).resolved()
        let json = tileset.canonicalJSON
        #expect(try Tileset(canonicalJSON: json) == tileset)
        #expect(try Tileset(canonicalJSON: json).canonicalJSON == json)
        let headers = try tileset.resolvedHeaders(environment: ["TOKEN": "s3cret"])
        #expect(headers.map(\.value) == ["Bearer s3cret", "packhorse"])
        #expect(!String(decoding: json, as: UTF8.self).contains("s3cret"))
    }

    @Test func jsonAndYAMLGiveTheSame() throws {
        let yaml = try file("{id: a, url: 'http://localhost/{z}/{x}/{y}.png', zoom: 3}").resolved()
        let json = try file(#"{"id":"a","url":"http:\/\/localhost\/{z}\/{x}\/{y}.png","zoom":3}"#).resolved()
        #expect(yaml == json && json.zooms.description == "3" && json.format == .png)
    }

    @Test func aMissingVariableIsNamed() throws {
        let tileset = try file(full).resolved()
        let header = #expect(throws: TilesetsError.self) { try tileset.resolvedHeaders(environment: [:]) }
        #expect(header?.code == .missingSecret && header?.message.contains("TOKEN") == true)
        let key = #expect(throws: TilesetsError.self) { try tileset.key(environment: ["KEY": ""]) }
        #expect(key?.code == .missingSecret && key?.message.contains("variable KEY, which is empty") == true)
        let empty = #expect(throws: TilesetsError.self) { try tileset.resolvedHeaders(environment: ["TOKEN": ""]) }
        #expect(empty?.code == .missingSecret && empty?.message.contains("variable TOKEN, which is empty") == true)
    }

    @Test(arguments: [
        ("Authorization: Bearer abc", "Authorization"), ("X-Api-Key: abc", "X-Api-Key"), ("Cookie: abc", "Cookie"),
    ])
    func aSecretInTheFileIsRefused(line: String, name: String) {
        let text =
            "url: http://localhost/{z}/{x}/{y}.png\nzoom: 3\nheaders: {\"\(line.replacing(": ", with: "\": \""))\"}"
        #expect(failure(text)?.code == .literalSecret)
        #expect(failure(text)?.message.contains(name) == true)
        #expect(failure(text)?.message.contains("abc") == false)
    }

    @Test(arguments: ["http://localhost/{z}/{x}/{y}.png?api_key=abc", "http://u:abc@localhost/{z}/{x}/{y}.png"])
    func aSecretInTheURLIsRefused(url: String) {
        let error = failure("url: \(url)\nzoom: 3")
        #expect(error?.code == .literalSecret && error?.message.contains("abc") == false)
    }

    @Test func aPublicHostNeedsAContactAndAPrivateOneDoesNot() {
        let text = "zoom: 3\nurl: http://HOST/{z}/{x}/{y}.png"
        #expect(failure(text.replacing("HOST", with: "tiles.example.org"))?.message.contains("contact") == true)
        for host in ["localhost:80", "tiles:8080", "10.1.2.3", "192.168.1.1", "172.20.0.1", "[::1]:80", "nas.local"] {
            #expect(failure(text.replacing("HOST", with: host)) == nil)
        }
        for host in [
            "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]:8080", "[::FFFF:7f00:1]", "[::ffff:10.1.2.3]", "[0::0:1]",
            "[fd00::1]", "[fc00:0:0::]", "[fe80::1%25eth0]", "[febf::1]", "[::]", "127.1", "0x7f.1", "2130706433",
            "0.0.0.0",
            "[::127.0.0.1]", "[::ffff:192.168.0.1]", "172.31.255.255", "169.254.1.1",
        ] {
            #expect(HostPolicy.isPrivate("http://\(host)/") == true, "\(host)")
            #expect(failure(text.replacing("HOST", with: host))?.message.contains("contact") != true, "\(host)")
        }
        for host in [
            "[::ffff:8.8.8.8]", "[2001:db8::1]", "[::2]", "134744072", "8.8.8.8", "172.32.0.1", "[fec0::1]",
            "[64:ff9b::1]",
            "10.example.org", "0x08.8.8.8",
        ] {
            #expect(HostPolicy.isPrivate("http://\(host)/") == false, "\(host)")
        }
    }

    @Test(arguments: [
        ("url: x\nconcurency: 3", "politeness"), ("url: x\nminzom: 3", "minzoom"), ("url: x\nformt: pbf", "format"),
        ("url: x\npoliteness: {contct: a}", "contact"),
    ])
    func anUnknownKeyIsNamedWithTheNearest(text: String, nearest: String) {
        #expect(failure(text)?.code == .unknownKey)
        #expect(failure(text)?.message.contains(nearest) == true)
    }

    @Test(arguments: [
        "", "just text", "[1, 2]", "url: 5", "url: [", "zoom: 3",
        "url: http://localhost/{z}/{x}/{y}.png\nzoom: 9-3", "url: http://localhost/{z}/{x}/{y}.png\nzoom: 0-40",
        "url: http://localhost/{z}/{x}/{y}\nzoom: 3", "url: http://localhost/{z}/{x}/{y}.png\nzoom: 3\nid: a/b",
        "url: http://localhost/{z}/{x}/{y}.png\nzoom: 3\nbounds: [1, 2, 3]",
        "url: http://localhost/{z}/{x}/{y}.png\nzoom: 3\nhttp2: 1",
        "url: http://localhost/{z}/{x}/{y}.png\nzoom: 3\nheaders: {Host: a}",
        "url: http://localhost/{z}/{x}/{y}.png?{key}\nzoom: 3",
        "url: http://localhost/{language}/{z}/{x}/{y}.png\nzoom: 3",
        "url: http://localhost/{z}/{x}/{y}.png\nzoom: 3\nkey: abc", "a: &a [x]\nb: [*a, *a]\nurl: x",
    ])
    func whatIsWrongIsSaid(text: String) {
        #expect(failure(text)?.message.isEmpty == false)
    }

    @Test func anAliasBombIsRefused() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1..<9 {
            text += "a\(level): &a\(level) [\((0..<10).map { _ in "*a\(level - 1)" }.joined(separator: ", "))]\n"
        }
        #expect(failure(text)?.code == .badSyntax)
    }

    @Test func anArchiveNeedsNothingElse() throws {
        let file = try TilesetFile(source: "mbtiles:data/my maps.mbtiles", folder: folder)
        #expect(file.source == TileSource(.mbtiles, "/maps/data/my maps.mbtiles"))
        var metadata = SourceMetadata()
        metadata.format = .webp
        metadata.zooms = ZoomRange(min: 8, max: 15)
        let tileset = try file.resolved(metadata: metadata)
        #expect(tileset.id == "my-maps" && tileset.format == .webp && tileset.zooms.max == 15)
        #expect(try Tileset(canonicalJSON: tileset.canonicalJSON) == tileset)
    }

    @Test func tileJSONCompletesTheFileAndTheFileWins() throws {
        let json = """
            {"tilejson":"3.0.0","tiles":["../{z}/{x}/{y}.pbf?key=s3cret"],"minzoom":1,"maxzoom":12,"bounds":[-180,-90,180,90],
             "attribution":"theirs","name":"Theirs","vector_layers":[{"minzoom":0,"id":"water","fields":{"b":"x","a":"y"}}]}
            """
        let text = "url: http://localhost:1/maps/v1/tiles.json?key={key}\nkey: ${KEY}\nattribution: ours"
        let plain = try file(text)
        let asked = try plain.forAsking().address(environment: ["KEY": "a b"])
        #expect(asked == "http://localhost:1/maps/v1/tiles.json?key=a%20b")
        let metadata = try SourceMetadata(tileJSON: Array(json.utf8), from: "http://localhost:1/maps/v1/tiles.json")
        let tileset = try plain.resolved(metadata: metadata, key: "s3cret")
        #expect(
            tileset.source == TileSource(.templates, "http://localhost:1/maps/{z}/{x}/{y}.pbf?key={key}"))
        #expect(tileset.attribution == "ours" && tileset.name == "Theirs" && tileset.format == .mvt)
        #expect(tileset.zooms.description == "1-12")
        #expect(tileset.vectorLayers == #"[{"fields":{"a":"y","b":"x"},"id":"water","minzoom":0}]"#)
        // Without the key's value the secret would be stored: refused.
        #expect(throws: TilesetsError.self) { try plain.resolved(metadata: metadata) }
    }

    @Test func aTileJSONDocumentCannotLeadToARefusedHost() throws {
        let json = #"{"tiles":["https://tile.openstreetmap.org/{z}/{x}/{y}.png"],"maxzoom":5}"#
        let file = try file("url: http://localhost/tiles.json")
        let error = #expect(throws: TilesetsError.self) { try file.resolved(tileJSON: Array(json.utf8)) }
        #expect(error?.code == .hostRefused)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"tiles":[]}"#, #"{"tiles":[1]}"#, #"{"tiles":["{z}{x}{y}"],"minzoom":9,"maxzoom":3}"#,
        #"{"tiles":["{z}{x}{y}"],"maxzoom":1e300}"#, #"{"tiles":["{z}{x}{y}"],"maxzoom":3,"scheme":"zxy"}"#,
        #"{"tiles":["{z}{x}{y}"],"vector_layers":[{"id":"a"},{"id":5}]}"#,
        #"{"tiles":["{z}{x}{y}"],"vector_layers":["a"]}"#,
    ])
    func otherTileJSONIsRefused(text: String) {
        let error = #expect(throws: TilesetsError.self) {
            try SourceMetadata(tileJSON: Array(text.utf8), from: "http://localhost/t.json")
        }
        #expect(error?.code == .badTileJSON)
    }

    @Test func nullMembersOfTileJSONAreMissingOnes() throws {
        let json = """
            {"tiles":["http://h/{z}/{x}/{y}"],"minzoom":null,"maxzoom":9,"bounds":null,"scheme":null,"format":null,"name":null,
             "attribution":null,"vector_layers":null,"packhorse:tile_packs":null}
            """
        let metadata = try SourceMetadata(tileJSON: Array(json.utf8), from: "http://h/t.json")
        #expect(metadata.zooms?.description == "0-9" && metadata.rowOrder == .xyz && metadata.packs == nil)
        let open = json.replacing("\"maxzoom\":9", with: "\"maxzoom\":null")
        #expect(try SourceMetadata(tileJSON: Array(open.utf8), from: "http://h/t.json").zooms == nil)
        let page = #expect(throws: TilesetsError.self) {
            try SourceMetadata(tileJSON: Array("\n<!DOCTYPE html>".utf8), from: "http://h/t.json")
        }
        #expect(page?.message.contains("HTML") == true)
    }

    @Test(arguments: ["[404.5]", "[]", "['403']", "[429]", "[500]", "[407]", "'403'", "[200]"])
    func statusesThatCannotMeanEmptyAreRefused(value: String) {
        let error = failure("url: http://localhost/{z}/{x}/{y}.png\nempty_statuses: \(value)")
        #expect(
            error?.code == .badValue && error?.message.contains("empty_statuses") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("is an empty list; ") == (value == "[]"), "\(error?.message ?? "")")
    }

    @Test func boundsOfZerosAreUnknown() {
        #expect(SourceMetadata.bounds([0, 0, 0, 0]) == nil)
        #expect(SourceMetadata.bounds([-180.1, -91, 181, 91])?.east == 180)
        #expect(SourceMetadata.bounds([.nan, 0, 1, 1]) == nil)
    }

    @Test(arguments: ["", "{}", "[1]", #"{"version":2}"#, "null"])
    func otherCanonicalFormsAreRefused(text: String) {
        #expect(throws: TilesetsError.self) { try Tileset(canonicalJSON: Array(text.utf8)) }
    }
}
