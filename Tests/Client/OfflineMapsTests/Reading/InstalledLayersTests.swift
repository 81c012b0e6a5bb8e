import Foundation
import Testing
import TextFormats
import TileBodies
import Tiles

@testable import OfflineMaps

/// TileJSON of installed tilesets.
struct InstalledLayersTests {
    private func layer(_ json: String, _ others: String...) throws -> [[String: Any]] {
        var layers = InstalledLayers()
        for json in [json] + others { layers.add(.mvt, rows: ["json": json]) }
        guard let value = layers.vectorLayers else { return [] }
        let bytes = try JSONEncoder().encode(value)
        return try #require(try JSONSerialization.jsonObject(with: bytes) as? [[String: Any]])
    }

    @Test func layersOfSeveralFilesAreUnited() throws {
        let found = try layer(
            #"{"vector_layers":[{"id":"land","fields":{"name":"String"},"minzoom":2,"maxzoom":5},{"id":"sea"}]}"#,
            #"{"vector_layers":[{"id":"land","fields":{"kind":"Number"},"minzoom":0,"maxzoom":9},{"id":"road"}]}"#)
        #expect(found.map { $0["id"] as? String } == ["land", "sea", "road"])
        #expect(found[0]["fields"] as? [String: String] == ["name": "String", "kind": "Number"])
        #expect(found[0]["minzoom"] as? Int == 0 && found[0]["maxzoom"] as? Int == 9)
        #expect(found[1]["fields"] as? [String: String] == [:], "the member is required")
    }

    @Test(arguments: [
        "", "[]", "null", "{", #"{"vector_layers":{}}"#, #"{"vector_layers":[1,"a",{},{"id":7}]}"#,
        #"{"vector_layers":[{"fields":{}}]}"#,
    ])
    func metadataOfOthersMayBeAnything(_ json: String) throws {
        #expect(try layer(json).isEmpty)
        #expect(try layer(#"{"vector_layers":[{"id":"a","fields":7,"minzoom":"x"}]}"#, json).count == 1)
    }

    /// Packages of maps without the row `json`, and pictures.
    @Test func theVersionIsOneThatTheDocumentKeeps() throws {
        let scratch = try StoreScratch()
        let file = try scratch.unit("EE")
        let reader = TileReader(scratch.folder, [file])
        let resolver = try ResourceResolver(scratch.folder, [file], tiles: reader)
        let body = try #require(resolver.tileJSON(of: "demo", at: "http://a/{z}/{x}/{y}"))
        let document = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        let layers = document["vector_layers"] as? [[String: Any]]
        #expect((document["tilejson"] as? String == "3.0.0") == (layers != nil), "\(document)")
        #expect(document["tiles"] as? [String] == ["http://a/{z}/{x}/{y}"])
        #expect(resolver.tileJSON(of: "no", at: "http://a/{z}/{x}/{y}") == nil)
    }
}
