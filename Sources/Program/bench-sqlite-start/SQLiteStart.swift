import GRDBSQLite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The baseline of `make bench-device` for starts: opens one SQLite file, reads one tile, and prints its bytes.
///
/// Without an argument it is the empty program. The last line is the most memory that it had, in KB.
@main
enum SQLiteStart {
    static func main() {
        if CommandLine.arguments.count > 1 { read(CommandLine.arguments[1]) }
        printPeak()
    }

    private static func read(_ path: String) {
        var (database, statement): (OpaquePointer?, OpaquePointer?)
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(database)
        }
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, "SELECT tile_data FROM tiles LIMIT 1", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else {
            print("no tile")
            exit(1)
        }
        print(sqlite3_column_bytes(statement, 0))
        fflush(nil)
    }

    private static func printPeak() {
        guard let file = fopen("/proc/self/status", "r") else { return }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            if strncmp(line, "VmHWM:", 6) == 0 { print(atoi(Array(line[6...]))) }
        }
    }
}
