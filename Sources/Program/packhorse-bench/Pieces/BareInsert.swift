import Foundation
import GRDB
import Tiles

/// The minimum for an MBTiles file: the same bodies and rows in one transaction, without any checks.
enum BareInsert {
    /// Writes a new file of two tables, with the page size of packages, and flushes it.
    static func run(_ bodies: BenchBodies, to url: URL) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL")
        }
        let queue = try DatabaseQueue(path: url.path, configuration: configuration)
        try queue.write { database in
            try database.execute(sql: "CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB)")
            try database.execute(
                sql:
                    "CREATE TABLE tiles (z INTEGER, x INTEGER, y INTEGER, id INTEGER, PRIMARY KEY (z, x, y)) WITHOUT ROWID"
            )
            let body = try database.makeStatement(sql: "INSERT INTO bodies VALUES (?, ?)")
            for (id, bytes) in bodies.distinct.enumerated() {
                try bytes.withUnsafeBytes { bytes in
                    // SQLite copies the bytes before this returns. An empty array may have no address.
                    let data = bytes.baseAddress.map {
                        Data(
                            bytesNoCopy: UnsafeMutableRawPointer(mutating: $0), count: bytes.count, deallocator: .none)
                    }
                    body.setUncheckedArguments([id, data ?? Data()])
                    try body.execute()
                }
            }
            let tile = try database.makeStatement(sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)")
            for sample in bodies.samples {
                guard let id = sample.body else { continue }
                tile.setUncheckedArguments([sample.tile.zoom, sample.tile.x, sample.tile.y, id])
                try tile.execute()
            }
        }
        try queue.close()
    }
}
