import Foundation
import GRDBSQLite
import OfflineMaps
import Tiles

/// What `make bench-device` measures for starts: opens a store, reads one tile, and prints its bytes.
///
/// usage: bench-maps-start FOLDER ZOOM X Y. The last line is the most memory that it had, in KB. With the path of an
/// SQLite file alone it only reads one tile of that file: what the same program takes for its start without the library.
@main
enum MapsStart {
    static func main() async throws {
        let words = CommandLine.arguments
        if words.count == 2 { return read(words[1]) }
        guard words.count == 5, let zoom = Int(words[2]), let x = Int(words[3]), let y = Int(words[4]),
            let tile = TileID(zoom: zoom, x: x, y: y)
        else { exit(64) }
        let store = try await MapStore.open(StoreOptions(folder: URL(filePath: words[1]), trust: .unsigned))
        guard case .found(let found) = try store.tiles.tile(tile) else {
            print("no tile")
            exit(1)
        }
        print(found.body.count)
        fflush(nil)
        for line in try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        where line.hasPrefix("VmHWM:") {
            print(line.split(separator: " ").dropLast().last.map { $0.filter(\.isNumber) } ?? "")
        }
        exit(0)
    }

    private static func read(_ path: String) {
        var (database, statement): (OpaquePointer?, OpaquePointer?)
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, "SELECT tile_data FROM tiles LIMIT 1", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { exit(1) }
        print(sqlite3_column_bytes(statement, 0))
        fflush(nil)
        exit(0)
    }
}
