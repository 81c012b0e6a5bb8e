import Testing

@testable import Tiles

/// Lists of changed tiles, as osm2pgsql and imposm write them.
struct TileListTests {
    private func list(_ texts: String...) throws -> TileList {
        var list = TileList()
        for text in texts { try list.add(Array(text.utf8)) }
        return list
    }

    private func tile(_ text: String) throws -> TileID { try #require(TileID(text)) }

    @Test func theTilesAndTheirParentsAreListed() throws {
        let mask = try list("14/9343/4798\n# a comment\r\n\n  13/4671/2399\t\r\n", "14/0/0").mask(maxZoom: 14)
        for text in ["14/9343/4798", "13/4671/2399", "12/2335/1199", "0/0/0", "14/0/0", "1/0/0"] {
            #expect(try mask.contains(tile(text)), "\(text)")
        }
        for text in ["14/9342/4798", "14/9343/4799", "13/4670/2399", "1/1/1"] {
            #expect(try !mask.contains(tile(text)), "\(text)")
        }
        #expect(mask.count(atZoom: 14) == 2)
    }

    @Test func aListOfOneZoomSaysAllBelowIt() throws {
        let mask = try list("3/1/2\n").mask(maxZoom: 5)
        #expect(mask.count(atZoom: 5) == 16 && mask.count(atZoom: 4) == 4 && mask.count(atZoom: 3) == 1)
        #expect(try mask.contains(tile("5/4/8")) && !mask.contains(tile("5/3/8")))
        // Only of the deepest listed tiles: a list of several zooms has the tiles below the others itself.
        let mixed = try list("3/1/2\n4/2/4\n").mask(maxZoom: 5)
        #expect(mixed.count(atZoom: 4) == 1 && mixed.count(atZoom: 5) == 4 && mixed.count(atZoom: 3) == 1)
        #expect(try list("14/9343/4798").mask(maxZoom: 3).count(atZoom: 3) == 1)
        #expect(try list("").mask(maxZoom: 3).isEmpty)
    }

    @Test(arguments: [
        ("14/1/1\n14/1\n", 2), ("a/b/c", 1), ("14/-1/3", 1), ("1/2/0", 1), ("23/0/0", 1), ("14/1/1/1", 1),
        ("14 1 1", 1),
        ("\n\n14//1", 3), ("14/99999999999999999999999/1", 1), ("14,1,1", 1),
    ])
    func anotherLineIsNamed(text: String, line: Int) {
        let fault = #expect(throws: TileList.Fault.self) { try list(text) }
        #expect(fault?.line == line)
    }
}
