import Digests
import Foundation
import GRDB
import Scheduling
import Testing
import Tiles
import Wire

@testable import Coordinator

extension Batch {
    /// The same batch in another state.
    func rewritten(_ state: BatchState, digest: Digest? = nil, trouble: Trouble? = nil) -> Batch {
        Batch(
            cell: cell, zooms: zooms, tiles: tiles, state: state, attempts: 0, losses: 0, token: nil, owner: 0,
            digest: digest, result: FetchCounts(stored: digest == nil ? 0 : tiles), trouble: trouble)
    }
}

extension Fixture {
    /// Changes the batches of job 1 and its row behind the log's back, while no coordinator runs.
    func rewrite(job assignments: String, _ change: @escaping @Sendable (Int, Batch) -> Batch) async throws {
        let store = try StateStore(folder: options.data)
        let batches = try await store.load(withEnded: true).jobs[0].batches
        try await store.perform { db in
            for (index, batch) in batches.enumerated() {
                try StateStore.put(change(index, batch), job: 1, index: BatchIndex(index), in: db)
            }
            try db.execute(sql: "UPDATE job SET \(assignments)")
        }
        await store.close()
    }

    /// Gives up every batch of job 1, with one failed tile each, as the loop would write it.
    func failAllBatches() async throws {
        let store = try StateStore(folder: options.data)
        let batches = try await store.load(withEnded: true).jobs[0].batches
        let trouble = Trouble(cause: "http-500", detail: "x")
        let writes = batches.enumerated().flatMap { index, batch -> [StoreWrite] in
            [
                .batch(1, index: BatchIndex(index), batch.rewritten(.dead, trouble: trouble)),
                .failures(1, batch: BatchIndex(index), [FailedTile(tile: batch.cell, trouble: trouble)]),
            ]
        }
        let orphan = Digest(bytes: [UInt8](repeating: 7, count: 32))
        try await store.apply(writes + [orphan].compactMap { $0 }.map { .orphan(1, $0) }, wall: 1)
        await store.close()
    }

    /// A job over the whole world, to zoom 14 or PACKHORSE_MEASURE_ZOOM.
    static func planet() throws -> PBSubmit {
        let zoom = ProcessInfo.processInfo.environment["PACKHORSE_MEASURE_ZOOM"].flatMap { Int($0) } ?? 14
        let world = try #require(TileID(zoom: 0, x: 0, y: 0))
        let mask = TileMask(tiles: [world], maxZoom: 0).expanded(toZoom: zoom)
        return PBSubmit.make {
            $0.kind = "region"
            $0.label = "planet"
            $0.tileset = Data(#"{"id":"demo"}"#.utf8)
            $0.zoomMax = UInt32(zoom)
            $0.allowedMissing = 0.001
            $0.packages = [
                .make {
                    $0.id = "planet"
                    $0.mask = Data(mask.encoded())
                    $0.names = ["en": "Planet"]
                }
            ]
        }
    }
}

extension StateStore {
    /// The number of rows of a job in each table.
    func rows(of job: JobID) async throws -> [Int] {
        try await perform { db in
            try ["batch", "failure", "orphan", "package", "plan", "job"].map { table in
                let column = table == "job" ? "id" : "job"
                return try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM \(table) WHERE \(column) = ?", arguments: [job.key]) ?? 0
            }
        }
    }
}
