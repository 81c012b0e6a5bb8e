import Foundation
import Synchronization
import Testing
import TileBodies
import Tiles
import Tilesets

@testable import Origins

/// The threads that check bodies, and the lists of bodies that they get.
@Suite(.timeLimit(.minutes(15)))
struct BodyCheckPoolTests {
    /// How many pieces of work use each checker now.
    private final class Busy: Sendable {
        let counts = Mutex<[ObjectIdentifier: Int]>([:])
    }

    /// All work is done, and no checker is used by two threads at the same time.
    @Test func allWorkIsDoneByAsManyThreadsAsThereAreLanes() async throws {
        let text = "{id: a, url: 'http://127.0.0.1:9/{z}/{x}/{y}.pbf', format: pbf, zoom: 0-2}"
        let tileset = try TilesetFile(text: text, name: "a.yaml", folder: URL(filePath: "/")).resolved()
        let pool = BodyCheckPool(lanes: 3, limit: 1 << 20, tileset, layers: nil)
        let busy = Busy()
        let answers = await withTaskGroup(of: (Int, Bool).self) { group in
            for number in 0..<500 {
                group.addTask {
                    let isAlone = await pool.run { checker in
                        let name = ObjectIdentifier(checker)
                        let isFirst = busy.counts.withLock { busy in
                            busy[name, default: 0] += 1
                            return busy[name] == 1
                        }
                        // Some work, so that other threads have time to begin.
                        let isPacked = Gzip.isGzip(Gzip.compress([UInt8](repeating: 7, count: 100 * number)))
                        busy.counts.withLock { $0[name, default: 0] -= 1 }
                        return isFirst && isPacked
                    }
                    return (number, isAlone)
                }
            }
            return await group.reduce(into: [(Int, Bool)]()) { $0.append($1) }
        }
        let numbers = Set(answers.map { $0.0 })
        let others = answers.count { !$0.1 }
        #expect(numbers == Set(0..<500))
        #expect(others == 0, "A checker was used by two threads.")
        #expect(busy.counts.withLock { $0.count } <= 3)
    }

    /// In any order: the bodies come by place, each once, with all of their tiles.
    @Test func bodiesComeByPlaceWithTheirTiles() throws {
        let tiles = try (0..<6).map { try #require(TileID(hilbertID: UInt64($0))) }
        let found: [(place: Range<UInt64>, tile: TileID)] = [
            (50..<60, tiles[0]), (10..<20, tiles[1]), (50..<60, tiles[2]), (10..<30, tiles[3]), (10..<20, tiles[4]),
            (90..<95, tiles[5]),
        ]
        for order in [found, found.reversed(), found.sorted { $0.place.lowerBound < $1.place.lowerBound }] {
            let wanted = WantedBodies(order)
            #expect(wanted.places == [10..<20, 10..<30, 50..<60, 90..<95])
            #expect(
                wanted.places.indices.map { Set(wanted.tiles(of: $0)) }
                    == [[tiles[1], tiles[4]], [tiles[3]], [tiles[0], tiles[2]], [tiles[5]]])
        }
        #expect(WantedBodies([]).places.isEmpty)
    }
}
