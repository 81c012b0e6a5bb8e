import Foundation
import OfflineMaps
import Tiles

/// Rows of stores that do not change.
///
/// The baseline is one prepared statement on one file that has the tiles of all packages.
struct ReadingRows {
    let maps: BenchMaps
    let reads: Int
    let rounds: Int

    func rows() async throws -> [Row] {
        let (one, file) = try await single()
        let many = try await maps.store("many", 0..<maps.count)
        let raw = try RawLookUp(file)
        let (tiles, missing, walk) = (try maps.allTiles(), try maps.missing(), try maps.walk())
        let figures = try (0...rounds).map { round in
            // Every second round is in the other order: the machine changes while it is measured.
            let isForward = round.isMultiple(of: 2)
            var times: [Int: ReadTimes] = [:]
            for row in isForward ? Array(0..<5) : (0..<5).reversed() {
                times[row] =
                    switch row {
                    case 0: ReadTimes(tiles, count: reads) { _ = raw.bytes($0) }
                    case 1: try ReadTimes(tiles, count: reads) { try Self.read(one.tiles, $0) }
                    case 2: ReadTimes(walk, count: walk.count, inOrder: true) { _ = raw.bytes($0) }
                    case 3: try ReadTimes(walk, count: walk.count, inOrder: true) { try Self.read(many.tiles, $0) }
                    default: try ReadTimes(missing, count: reads) { try Self.miss(many.tiles, $0) }
                    }
            }
            return (0..<5).compactMap { times[$0] }
        }
        return Self.rows(Array(figures.dropFirst()), maps.count)
    }

    /// - Parameter figures: For each round: raw reads, reads of one package, raw walk, walk, misses. The first round
    ///   only warms caches and is not among them.
    private static func rows(_ figures: [[ReadTimes]], _ count: Int) -> [Row] {
        func row(
            _ name: String, unit: String, limit: Double, ours: Int, raw: Int, value: (ReadTimes) -> Double
        ) -> Row {
            let (mine, other) = (figures.map { value($0[ours]) }, figures.map { value($0[raw]) })
            let ratio = ReadTimes.middle(zip(mine, other).map { $0 / max(1, $1) })
            return Row(
                piece: name, unit: unit, value: ratio, limit: limit,
                note: "\(Int(ReadTimes.middle(mine))) ns, raw \(Int(ReadTimes.middle(other))) ns")
        }
        let walk = "walk over \(count) packages"
        return [
            row("tile, median", unit: "× raw", limit: 2, ours: 1, raw: 0, value: \.median),
            row("tile, p99", unit: "× raw", limit: 3, ours: 1, raw: 0, value: \.p99),
            row("\(walk), time", unit: "× raw on one file", limit: 2, ours: 3, raw: 2) {
                $0.sum / Double(max(1, $0.count))
            },
            row(
                "which of \(count) packages has a tile, p99", unit: "× raw look-up", limit: 1, ours: 4, raw: 0,
                value: \.p99),
        ]
    }

    /// A store with one package that has the tiles of all.
    private func single() async throws -> (store: MapStore, file: URL) {
        let file = maps.folder.appending(path: "all.mbtiles")
        try maps.writeAll(to: file)
        let store = try await maps.store("one")
        _ = try await store.adopt(file, as: .package("ALL"), by: .move)
        guard let place = try await store.url(of: .package("ALL")) else { throw CocoaError(.fileNoSuchFile) }
        return (store, place)
    }

    /// Reads a tile that is there.
    private static func read(_ reader: TileReader, _ tile: TileID) throws {
        guard case .found = try reader.tile(tile) else { throw CocoaError(.fileNoSuchFile) }
    }

    /// Asks for a tile that no package has: only the search for a package is measured, and it asks all candidates.
    private static func miss(_ reader: TileReader, _ tile: TileID) throws {
        guard case .absent = try reader.tile(tile) else { throw CocoaError(.fileReadUnknown) }
    }
}
