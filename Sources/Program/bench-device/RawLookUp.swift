import Foundation
import GRDBSQLite
import Tiles

/// A prepared statement of SQLite and nothing else: the baseline of the rows.
///
/// It copies the bytes, as each reader must.
final class RawLookUp {
    private var database: OpaquePointer?
    private var statement: OpaquePointer?
    private var buffer = [UInt8](repeating: 0, count: 1 << 20)

    init(_ file: URL) throws {
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
        let sql = "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?"
        guard sqlite3_open_v2("file:\(file.path)?immutable=1", &database, flags, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK
        else { throw CocoaError(.fileReadCorruptFile) }
    }

    deinit {
        sqlite3_finalize(statement)
        sqlite3_close(database)
    }

    /// Reads a tile.
    ///
    /// - Returns: Its bytes; 0 when it is not there.
    func bytes(_ tile: TileID) -> Int {
        sqlite3_bind_int64(statement, 1, Int64(tile.zoom))
        sqlite3_bind_int64(statement, 2, Int64(tile.x))
        sqlite3_bind_int64(statement, 3, Int64(tile.tmsY))
        defer { sqlite3_reset(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW, let body = sqlite3_column_blob(statement, 0) else { return 0 }
        let count = min(buffer.count, Int(sqlite3_column_bytes(statement, 0)))
        buffer.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(start: body, count: count)) }
        return count
    }
}

/// Times of single reads.
struct ReadTimes {
    private let sorted: [Double]

    /// Unit: nanoseconds.
    var median: Double { sorted.isEmpty ? 0 : sorted[sorted.count / 2] }
    /// Unit: nanoseconds.
    var p99: Double { sorted.isEmpty ? 0 : sorted[sorted.count * 99 / 100] }
    /// Unit: nanoseconds.
    var sum: Double { sorted.reduce(0, +) }
    var count: Int { sorted.count }

    /// The middle of some figures.
    static func middle(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

    init(_ nanoseconds: [Double]) { sorted = nanoseconds.sorted() }

    /// Reads tiles in a fixed order without a pattern, or one after another.
    ///
    /// Everything is read twice, and the second time counts: the system may have dropped the pages of a file since its
    /// last use, and the first reader would wait for the disk.
    init(_ tiles: [TileID], count: Int, inOrder: Bool = false, read: (TileID) throws -> Void) rethrows {
        let clock = ContinuousClock()
        var times: [Double] = []
        times.reserveCapacity(count)
        func tile(_ number: Int) -> TileID { tiles[(inOrder ? number : number &* 7_919) % tiles.count] }
        for number in 0..<count { try read(tile(number)) }
        for number in 0..<count {
            let tile = tile(number)
            let start = clock.now
            try read(tile)
            times.append(Double((clock.now - start).components.attoseconds) / 1e9)
        }
        self.init(times)
    }
}
