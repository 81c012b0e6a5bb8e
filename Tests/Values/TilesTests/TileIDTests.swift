import Foundation
import Testing
import Tiles

struct TileIDTests {
    @Test func hilbertIDsAreThoseOfPMTiles() throws {
        // From the PMTiles v3 specification: zooms 0 and 1, and the corner that each zoom ends at.
        #expect(TileID.root.hilbertID == 0)
        #expect(try ["1/0/0", "1/0/1", "1/1/1", "1/1/0"].map { try tile($0).hilbertID } == [1, 2, 3, 4])
        #expect(try tile("2/0/0").hilbertID == 5)
        #expect(try tile("2/3/0").hilbertID == 20)
        #expect(try tile("12/3423/1763").hilbertID == 19_078_479)
    }

    @Test func hilbertIDsAreABijectionAlongNeighbours() throws {
        var previous = TileID.root
        for id in UInt64(0)..<HilbertRange.zoom7 {
            let tile = try #require(TileID(hilbertID: id))
            #expect(tile.hilbertID == id)
            if tile.zoom == previous.zoom, id > 0 {
                #expect(abs(tile.x - previous.x) + abs(tile.y - previous.y) == 1)
                #expect(previous < tile)
            }
            previous = tile
        }
    }

    private enum HilbertRange { static let zoom7: UInt64 = 21_845 }

    @Test func everyFormReadsBackAtRandom() throws {
        var random = SeededRandom(1)
        for _ in 0..<20_000 {
            let zoom = Int.random(in: 0...22, using: &random)
            let (x, y) = (
                Int.random(in: 0..<1 << zoom, using: &random), Int.random(in: 0..<1 << zoom, using: &random)
            )
            let tile = try #require(TileID(zoom: zoom, x: x, y: y))
            #expect(tile.zoom == zoom && tile.x == x && tile.y == y)
            #expect(TileID(hilbertID: tile.hilbertID) == tile)
            #expect(TileID(quadkey: tile.quadkey) == tile)
            #expect(TileID(tile.description) == tile)
            #expect(TileID(zoom: zoom, x: x, tmsY: tile.tmsY) == tile)
            #expect(tile.children.allSatisfy { $0.parent == tile && tile.contains($0) && !$0.contains(tile) })
            let bounds = tile.bounds
            #expect(bounds.west < bounds.east && bounds.south < bounds.north)
        }
    }

    @Test func whatIsOutOfRangeIsNil() {
        #expect(TileID(zoom: 23, x: 0, y: 0) == nil)
        #expect(TileID(zoom: -1, x: 0, y: 0) == nil)
        #expect(TileID(zoom: Int.max, x: 0, tmsY: 0) == nil)
        #expect(TileID(zoom: 3, x: 8, y: 0) == nil)
        #expect(TileID(zoom: 3, x: 0, tmsY: -1) == nil)
        #expect(TileID(hilbertID: 23_456_248_059_221) == nil)
        #expect(TileID(hilbertID: .max) == nil)
        #expect(TileID(hilbertID: 23_456_248_059_220)?.zoom == 22)
        for text in ["", "1/2", "1/0/0/0", "1/-0/0", "+1/0/0", " 1/0/0", "1/2/0", "99999999999999999999/0/0", "1//0"] {
            #expect(TileID(text) == nil, "\(text)")
        }
        for key in ["4", "12a", "00000000000000000000000"] { #expect(TileID(quadkey: key) == nil) }
        #expect(TileID.root.ancestor(atZoom: 1) == nil)
        #expect(TileID.root.parent == nil)
    }

    @Test func quadkeysAreThoseOfBing() throws {
        #expect(try tile("3/3/5").quadkey == "213")
        #expect(TileID.root.quadkey.isEmpty)
    }

    @Test func zoomRangesReadAndRefuse() throws {
        #expect(try Array(ZoomRange(parsing: "0-14")) == Array(0...14))
        #expect(try ZoomRange(parsing: " 5 ").description == "5")
        #expect(try ZoomRange(parsing: "3 - 4").description == "3-4")
        for text in ["", "-", "5-", "-5", "14-0", "0-23", "a", "1-2-3", "1 2", "99999999999999999999"] {
            #expect(throws: TilesError.self, "\(text)") { try ZoomRange(parsing: text) }
        }
        let range = try ZoomRange(parsing: "2-9")
        #expect(range.intersection(try ZoomRange(parsing: "9-12"))?.description == "9")
        #expect(range.intersection(try ZoomRange(parsing: "10-12")) == nil)
        #expect(try JSONDecoder().decode(ZoomRange.self, from: JSONEncoder().encode(range)) == range)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ZoomRange.self, from: Data(#"{"min":3,"max":2}"#.utf8))
        }
    }
}
