import Errors
import Foundation
import GRDB
import Origins
import Testing
import Tiles
import Tilesets

/// A lock is no damage, and neither is a file that cannot be read now.
@Suite(.timeLimit(.minutes(15)))
struct LockedArchiveTests {
    private static let png =
        "x'89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000f494441547801010400fbff00ff0000030101008d1de5820000000049454e44ae426082'"

    private func archive(_ folder: URL, log: Bool = false) throws -> (DatabaseQueue, Tileset) {
        let queue = try DatabaseQueue(path: folder.appendingPathComponent("a.mbtiles").path)
        if log { try queue.writeWithoutTransaction { _ = try Row.fetchAll($0, sql: "PRAGMA journal_mode = WAL") } }
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE metadata (name, value);
                    INSERT INTO metadata VALUES ('format','png'), ('minzoom', 0), ('maxzoom', 1);
                    CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data);
                    INSERT INTO tiles VALUES (1, 0, 0, \(Self.png)), (1, 0, 1, \(Self.png));
                    """)
        }
        let tileset = try TilesetFile(
            text: "{url: 'mbtiles:a.mbtiles', format: png, zoom: 0-1}", name: "a.yaml", folder: folder
        ).resolved()
        return (queue, tileset)
    }

    private let tiles = (0..<2).compactMap { TileID(zoom: 1, x: 0, y: $0) }

    @Test func aShortLockIsWaitedFor() async throws {
        let scratch = try Scratch()
        let (queue, tileset) = try archive(scratch.folder)
        let origin = try await OriginFactory.open(tileset, environment: [:])
        let lock = Task {
            try await queue.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN EXCLUSIVE")
                Thread.sleep(forTimeInterval: 0.5)
                try db.execute(sql: "ROLLBACK")
            }
        }
        try await Task.sleep(for: .milliseconds(100))
        let basket = Basket()
        try await origin.fetch(tiles) { basket.add($0) }
        #expect(basket.all.count == 2)
        for tile in basket.all { guard case .stored = tile.outcome else { throw Unexpected() } }
        try await lock.value
    }

    @Test func aLongLockIsSaidToBeOne() async throws {
        let scratch = try Scratch()
        let (queue, tileset) = try archive(scratch.folder)
        let origin = try await OriginFactory.open(tileset, environment: [:])
        let (locked, release) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
        let lock = Task {
            try await queue.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN EXCLUSIVE")
                locked.continuation.yield()
                release.wait()
                try db.execute(sql: "ROLLBACK")
            }
        }
        for await _ in locked.stream { break }
        // Each waits its time, so all at once.
        let (tiles, folder) = (tiles, scratch.folder)
        async let reading = refusal { try await origin.fetch(tiles) { _ in } }
        async let opening = refusal { _ = try await OriginFactory.open(tileset, environment: [:]) }
        async let resolving = refusal {
            let file = try TilesetFile(source: "mbtiles:a.mbtiles", folder: folder)
            _ = try await OriginMetadata.resolve(file, environment: [:])
        }
        for error in await [reading, opening, resolving] {
            let error = try #require(error)
            #expect(error.code == .busy && error.message.contains("is locked by another program"), "\(error)")
            #expect(error.message.contains("Try again") && !error.message.contains("damaged"))
        }
        release.signal()
        try await lock.value
        let basket = Basket()
        try await origin.fetch(tiles) { basket.add($0) }
        #expect(basket.all.count == 2)
    }

    private func refusal(_ body: @Sendable () async throws -> Void) async -> OriginsError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? OriginsError
        }
    }

    // MARK: - Versions

    @Test func aVersionChangesWithTheFileAndWithNothingElse() async throws {
        let scratch = try Scratch()
        let (queue, tileset) = try archive(scratch.folder)
        try queue.close()
        let file = scratch.folder.appendingPathComponent("a.mbtiles")
        func version() throws -> String { try #require(try OriginFactory.version(of: tileset)) }
        let first = try version()
        #expect(try version() == first)
        // A copy that keeps the time is the same data, whatever its inode; a changed mode is no other data.
        let copy = scratch.folder.appendingPathComponent("copy")
        try FileManager.default.copyItem(at: file, to: copy)
        var status = stat()
        try #require(stat(file.path, &status) == 0)
        try #require(utimensat(AT_FDCWD, copy.path, [status.st_atim, status.st_mtim], 0) == 0)
        try #require(rename(copy.path, file.path) == 0 && chmod(file.path, 0o600) == 0)
        #expect(try version() == first)
        // One byte of the SQLite change counter, with the time put back.
        let handle = try FileHandle(forUpdating: file)
        try handle.seek(toOffset: 24)
        try handle.write(contentsOf: Data([9]))
        try handle.close()
        try #require(utimensat(AT_FDCWD, file.path, [status.st_atim, status.st_mtim], 0) == 0)
        let second = try version()
        #expect(second != first)
        // The time alone.
        try #require(utimensat(AT_FDCWD, file.path, nil, 0) == 0)
        #expect(try version() != second)
        try FileManager.default.removeItem(at: file)
        let error = #expect(throws: OriginsError.self) { try OriginFactory.version(of: tileset) }
        #expect(error?.code == .unreadable)
    }

    @Test func rowsInTheLogAreAnotherVersion() async throws {
        let scratch = try Scratch()
        let (queue, tileset) = try archive(scratch.folder, log: true)
        var versions: Set<String> = []
        for number in 0..<5 {
            try await queue.write { try $0.execute(sql: "INSERT INTO metadata VALUES ('n', ?)", arguments: [number]) }
            versions.insert(try #require(try OriginFactory.version(of: tileset)))
        }
        #expect(versions.count == 5 && versions.allSatisfy { $0.contains("with a log of") })
        // An empty log counts as no log.
        try await queue.writeWithoutTransaction { _ = try Row.fetchAll($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        let empty = try #require(try OriginFactory.version(of: tileset))
        try queue.close()
        #expect(try OriginFactory.version(of: tileset) == empty && !empty.contains("log"))
    }

    @Test func aFolderOrAServerHasNoVersion() throws {
        let scratch = try Scratch()
        let file = try TilesetFile(
            text: "{url: 'pmtiles:.', format: png, zoom: 0-1, id: a}", name: "a.yaml", folder: scratch.folder)
        let error = #expect(throws: OriginsError.self) { try OriginFactory.version(of: file.resolved()) }
        #expect(error?.code == .unreadable)
        let server = try TilesetFile(
            text: "{url: 'http://a/{z}/{x}/{y}.png', zoom: 0-1}", name: "a.yaml", folder: scratch.folder)
        #expect(try OriginFactory.version(of: server.resolved()) == nil)
    }
}
