import Foundation
import TestSupport
import Testing

/// The sqlite3 program, which shares no code with Packhorse.
enum SQLiteShell {
    private static let program = URL(filePath: "/usr/bin/sqlite3")

    static var isThere: Bool { FileManager.default.isExecutableFile(atPath: program.path) }

    /// Two PNG images of one pixel, as SQL; of the same length, made with Python's zlib.
    static let red = pixel("ff0000030101008d1de582")
    static let blue = pixel("0000ff010301007cc274db")

    private static func pixel(_ content: String) -> String {
        let head = "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000f494441547801010400fbff00"
        return "x'\(head)\(content)0000000049454e44ae426082'"
    }

    /// Runs statements on a file and returns what they print.
    @discardableResult
    static func run(_ file: URL, _ statements: String, in scratch: Scratch) async throws -> String {
        let outcome = try await Program.run(program, ["-batch", "-bail", file.path, statements], in: scratch)
        try #require(outcome.status == 0, "\(statements.prefix(80)): \(outcome.errors)")
        return outcome.output
    }

    /// Makes an MBTiles file with the same body for every tile of the world down to a zoom.
    static func archive(_ file: URL, body: String, zoom: Int, in scratch: Scratch) async throws {
        try await run(
            file,
            """
            CREATE TABLE metadata (name TEXT, value TEXT);
            INSERT INTO metadata VALUES ('name', 'pixels'), ('format', 'png'), ('minzoom', 0), ('maxzoom', \(zoom));
            CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
            WITH RECURSIVE z(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM z WHERE n < \(zoom)),
                c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < (1 << \(zoom)) - 1)
            INSERT INTO tiles SELECT z.n, x.n, y.n, \(body) FROM z, c AS x, c AS y WHERE x.n < 1 << z.n AND y.n < 1 << z.n;
            CREATE UNIQUE INDEX place ON tiles (zoom_level, tile_column, tile_row);
            """, in: scratch)
    }

    /// An exclusive lock that another process holds.
    final class Lock {
        private let process = Process()
        private let input = Pipe()

        init(_ file: URL, in scratch: Scratch) async throws {
            let sign = scratch.url("locked-\(UUID().uuidString)")
            process.executableURL = SQLiteShell.program
            process.arguments = ["-batch", file.path]
            process.standardInput = input
            try process.run()
            try input.fileHandleForWriting.write(
                contentsOf: Data("PRAGMA busy_timeout = 20000;\nBEGIN EXCLUSIVE;\n.shell touch \(sign.path)\n".utf8))
            try await Eventually.holds("the file is locked") { FileManager.default.fileExists(atPath: sign.path) }
        }

        /// Ends the transaction and the process.
        func release() async throws {
            try input.fileHandleForWriting.write(contentsOf: Data("ROLLBACK;\n".utf8))
            try input.fileHandleForWriting.close()
            try await Eventually.holds("the lock is gone") { !process.isRunning }
        }

        deinit { if process.isRunning { process.terminate() } }
    }
}
