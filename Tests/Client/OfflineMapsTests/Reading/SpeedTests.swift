import Foundation
import GRDBSQLite
import Testing
import Tiles

@testable import OfflineMaps

/// Prints how fast the reader is beside a prepared statement of SQLite in the same run, and asserts nothing about time.
struct SpeedTests {
    @Test func tileBesideAPreparedStatement() throws {
        let scratch = try StoreScratch()
        let unit = try scratch.unit("EE", cell: (7, 72, 37), depth: 4)
        let tiles = try TestMap((7, 72, 37), depth: 4).tiles
        let reader = TileReader(scratch.folder, [unit])
        let raw = try Raw(try #require(scratch.folder.file(unit.path)).path)
        for round in 1...3 {
            let (theirs, ours) = (
                times(tiles) { raw.bytes($0) },
                times(tiles) { if case .found(let tile)? = try? reader.tile($0) { tile.body.count } else { 0 } }
            )
            #expect(theirs.bytes == ours.bytes)
            print(
                "round \(round): raw p50 \(theirs.p50) ns p99 \(theirs.p99) ns; reader p50 \(ours.p50) ns p99 "
                    + "\(ours.p99) ns; ratio p50 \(ours.p50 / theirs.p50) p99 \(ours.p99 / theirs.p99)")
        }
    }

    private func times(_ tiles: [TileID], _ read: (TileID) -> Int) -> (p50: Double, p99: Double, bytes: Int) {
        let clock = ContinuousClock()
        var samples: [Double] = []
        var bytes = 0
        for number in 0..<20_000 {
            let tile = tiles[number &* 7_919 % tiles.count]
            let start = clock.now
            bytes += read(tile)
            samples.append(Double((clock.now - start).components.attoseconds) / 1e9)
        }
        samples.sort()
        return (samples[samples.count / 2], samples[samples.count * 99 / 100], bytes)
    }

    /// The statement and nothing else; the bytes are copied, as each reader must.
    private final class Raw {
        private var database: OpaquePointer?
        private var statement: OpaquePointer?
        private var buffer = [UInt8](repeating: 0, count: 1 << 20)

        init(_ path: String) throws {
            struct NotOpen: Error {}
            let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
            let sql = "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?"
            guard sqlite3_open_v2("file:\(path)?immutable=1", &database, flags, nil) == SQLITE_OK,
                sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK
            else { throw NotOpen() }
        }

        deinit {
            sqlite3_finalize(statement)
            sqlite3_close(database)
        }

        func bytes(_ tile: TileID) -> Int {
            sqlite3_bind_int64(statement, 1, Int64(tile.zoom))
            sqlite3_bind_int64(statement, 2, Int64(tile.x))
            sqlite3_bind_int64(statement, 3, Int64(tile.tmsY))
            defer { sqlite3_reset(statement) }
            guard sqlite3_step(statement) == SQLITE_ROW, let body = sqlite3_column_blob(statement, 0) else { return 0 }
            let count = Int(sqlite3_column_bytes(statement, 0))
            buffer.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(start: body, count: count)) }
            return count
        }
    }
}
