import Foundation
import GRDBSQLite
import PackageFiles
import Packages
import Testing
import Tiles

@testable import OfflineMaps

/// Prints how fast the reader is next to a prepared statement of SQLite in the same run, and asserts nothing about time.
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

    @Test func pmtilesBesideMBTiles() throws {
        let scratch = try StoreScratch()
        var unit = try scratch.unit("EE", cell: (7, 72, 37), depth: 4)
        let tiles = try TestMap((7, 72, 37), depth: 4).tiles
        let first = TileReader(scratch.folder, [unit])
        let target = scratch.url.appending(path: "out.pmtiles")
        _ = try PackageExport.write(
            from: try #require(scratch.folder.file(unit.path)), format: .pmtiles, to: target)
        (unit.path, unit.format) = ("out.pmtiles", .pmtiles)
        let second = TileReader(scratch.folder, [unit])
        let both = [first, second].map { reader in
            times(tiles) { if case .found(let tile)? = try? reader.tile($0) { tile.body.count } else { 0 } }
        }
        #expect(both[0].bytes == both[1].bytes)
        print(
            "mbtiles p50 \(both[0].p50) ns p99 \(both[0].p99) ns; pmtiles p50 \(both[1].p50) ns p99 \(both[1].p99) ns")
    }

    @Test func aListOf600PackagesAndItsFirstTile() throws {
        let scratch = try StoreScratch()
        var content = try CatalogContent(CatalogSample.index())
        let pattern = content.offers[0]
        content.offers = (0..<600).map { number in
            var offer = pattern
            offer.id = "P\(number)"
            let cells = (0..<40).compactMap {
                TileID(zoom: 8, x: (number * 3 + $0) % 256, y: (60 + number / 8 + $0 % 7) % 256)
            }
            offer.mask = TileMask(tiles: cells, maxZoom: 8).expanded(toZoom: 12)
            return offer
        }
        let made = try StoreDatabase.open(scratch.folder, isWorker: true)
        let units = try (0..<20).map { try scratch.unit("P\($0)", cell: (7, 60 + $0, 37), depth: 2) }
        let catalog = VerifiedCatalog(content: content, key: "k", sequence: 7)
        var details = ChangeDetails(catalog: CatalogCandidate(verified: catalog, address: "a", mark: CatalogMark()))
        for unit in units { details.units[unit.fileID] = unit }
        try made.apply([.catalog(7)] + units.map { .unit($0.record) }, details)
        try made.close()
        let clock = ContinuousClock()
        for isWorker in [false, true] {
            let start = clock.now
            let database = try StoreDatabase.open(scratch.folder, isWorker: isWorker)
            let opened = clock.now
            let reader = TileReader(scratch.folder, try database.units())
            let isFound = if case .found = try reader.tile(.root) { true } else { false }
            let first = clock.now
            let catalog = MapCatalog(try #require(try database.content()), checkedAt: nil)
            let listed = clock.now
            #expect(isFound && catalog.packages.count == 600)
            print(
                "600 listed, 20 installed, worker \(isWorker): open \(opened - start), first tile \(first - opened), list \(listed - first)"
            )
        }
        let tiles = pattern.mask.tiles(in: try #require(ZoomRange(min: 0, max: 12))).prefix(2_000)
        let cells = CellIndex(content.offers.map(\.mask))
        let found = times(Array(tiles)) { tile in
            cells.candidates(for: tile).filter { content.offers[Int($0)].mask.contains(tile) }.count
        }
        print("which of 600 masks: p50 \(found.p50) ns p99 \(found.p99) ns")
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
