import Testing
import Tiles

@testable import Gateway
@testable import WorldTiles

@Suite struct RecentWorldTilesTests {
    private static func key(_ x: Int) throws -> RecentWorldTiles.Key {
        RecentWorldTiles.Key(tile: try #require(TileID(zoom: 8, x: x, y: 0)), language: "en")
    }

    private static func tile(_ count: Int) -> WorldTile {
        WorldTile(vector: Array(repeating: 7, count: count), gzip: [], hash: "0")
    }

    @Test func keepsThoseThatWereUsedLast() throws {
        var tiles = RecentWorldTiles(most: 10_000)
        for x in 0..<8 { tiles.insert(Self.tile(1_000), try Self.key(x)) }
        #expect(tiles.bytes == 9_600)
        #expect(tiles.find(try Self.key(0))?.tile?.vector.count == 1_000)
        tiles.insert(Self.tile(1_000), try Self.key(8))
        #expect(tiles.bytes <= 5_000)
        for x in [0, 8] { #expect(tiles.find(try Self.key(x)) != nil) }
        #expect(tiles.find(try Self.key(1)) == nil)
    }

    @Test func keepsThatThereIsOnlySea() throws {
        var tiles = RecentWorldTiles()
        tiles.insert(nil, try Self.key(1))
        let kept = try #require(tiles.find(try Self.key(1)))
        #expect(kept.tile == nil)
        #expect(tiles.find(try Self.key(2)) == nil)
    }

    @Test func aTileThatIsTooLargeIsNotKept() throws {
        var tiles = RecentWorldTiles(most: 1_000)
        tiles.insert(Self.tile(5_000), try Self.key(1))
        #expect(tiles.find(try Self.key(1)) == nil)
        #expect(tiles.bytes == 0)
    }
}
