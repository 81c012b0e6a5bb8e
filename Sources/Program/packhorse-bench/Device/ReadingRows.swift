import Foundation
import OfflineMaps
import Tiles

/// Rows of a store that does not change.
struct ReadingRows {
    let maps: BenchMaps
    let reads: Int

    func rows() async throws -> [PieceRow] {
        let store = try await maps.store(0..<maps.count)
        guard let file = try await store.url(of: .package("P0")) else { throw CocoaError(.fileNoSuchFile) }
        let raw = try RawLookUp(file)
        let tiles = try maps.tiles(0).filter { $0.zoom >= 7 }
        let missing = try missing()
        let walk = try maps.walk(4_000)
        var rounds: [[Double]] = []
        var notes: [String] = []
        // The first round warms caches and is not counted.
        for round in 0...3 {
            let bare = ReadTimes(tiles, reads) { _ = raw.bytes($0) }
            let ours = try ReadTimes(tiles, reads) { try Self.read(store.tiles, $0) }
            let walked = try ReadTimes(walk, reads, inOrder: true) { try Self.read(store.tiles, $0) }
            let found = try ReadTimes(missing, reads) { _ = try store.tiles.tile($0) }
            guard round > 0 else { continue }
            rounds.append([
                ours.median / bare.median, ours.p99 / bare.p99, bare.sum / walked.sum, found.p99 / bare.p99,
            ])
            notes = [
                "\(Int(ours.median)) ns, raw \(Int(bare.median)) ns", "\(Int(ours.p99)) ns, raw \(Int(bare.p99)) ns",
                "p99 \(Int(walked.p99)) ns, raw \(Int(bare.p99)) ns", "\(Int(found.p99)) ns, raw \(Int(bare.p99)) ns",
            ]
        }
        func median(_ row: Int) -> Double { Stopwatch.median(rounds.map { $0[row] }) }
        return [
            PieceRow(piece: "tile, median", unit: "× raw", value: median(0), limit: 2, note: notes[0]),
            PieceRow(piece: "tile, p99", unit: "× raw", value: median(1), limit: 3, note: notes[1]),
            PieceRow(
                piece: "walk over \(maps.count) packages, time", unit: "× raw on one", value: 1 / median(2), limit: 2,
                note: notes[2]),
            PieceRow(
                piece: "which of \(maps.count) has a tile, p99", unit: "× raw", value: median(3), limit: 1,
                note: notes[3]),
        ]
    }

    /// Tiles in cells that packages have, at a zoom that none has: only the look for a package is measured.
    private func missing() throws -> [TileID] {
        try (0..<maps.count).compactMap { number in
            let cell = try maps.cell(number)
            return TileID(zoom: 10, x: cell.x << 3 + number % 8, y: cell.y << 3 + number / 8 % 8)
        }
    }

    /// Reads a tile that is there.
    static func read(_ reader: TileReader, _ tile: TileID) throws {
        guard case .found = try reader.tile(tile) else { throw CocoaError(.fileNoSuchFile) }
    }
}
