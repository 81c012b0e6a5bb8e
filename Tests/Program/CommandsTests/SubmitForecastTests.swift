import ClusterClient
import Testing
import Tilesets
import Wire

@testable import Commands

/// What `submit --dry-run` says of a submission.
struct SubmitForecastTests {
    private static let tileset = """
        {"version":1,"id":"demo","templates":["https://a.example/{z}/{x}/{y}"],"scheme":"xyz","format":"pbf","minzoom":0,
        "maxzoom":3,"headers":{},"concurrency":1,"contact":"maps@example.com","connectSeconds":1,"totalSeconds":1,"stallSeconds":1,"http2":false,
        "maxTileBytes":1000}
        """

    @Test(arguments: [("", ""), ("staging", ", in the catalog 'staging'")])
    func aCatalogThatIsNotTheMainOneIsNamed(catalog: String, words: String) throws {
        let tileset = try Tileset(canonicalJSON: Array(Self.tileset.utf8))
        var draft = try JobDraft(areas: [AreaReader.box("24.5,59.3,25,59.5")], zooms: tileset.zooms, tileset: tileset)
        draft.publish.catalog = catalog
        let lines = SubmitCommand.forecast(.make { $0.tiles = 4 }, draft)
        #expect(lines.first?.hasSuffix(words) == true)
        #expect(lines.contains { $0.contains("catalog") } == !catalog.isEmpty)
        #expect(lines.last?.hasPrefix("4 tiles in ") == true)
    }
}
