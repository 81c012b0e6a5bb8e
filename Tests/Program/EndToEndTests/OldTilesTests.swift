import Foundation
import TestSupport
import Testing

/// Stale tiles never come into a package, or back into the catalog, without an explicit command.
@Suite(.serialized)
struct OldTilesTests {
    /// One worker and an origin whose tiles change.
    private func world(_ body: (Cluster, ChangingOrigin, Scratch) async throws -> Void) async throws {
        let scratch = try Scratch()
        let origin = try ChangingOrigin(in: scratch)
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 1, in: scratch)
        try await body(cluster, origin, scratch)
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aRequestIDIsForOneSubmissionAlone() async throws {
        try await world { cluster, origin, _ in
            let asked = ["LI", "--zoom", "0-6", "--tileset", origin.tileset, "--request-id", "one"]
            let first = try await cluster.build(asked)
            #expect(try await cluster.submit(asked) == "\(first.job)")
            for other in [
                ["--id", "other"], ["--data-date", "2026-11-01"], ["--allowed-missing", "0.5"], ["--tile-packs"],
            ] {
                let refused = try await cluster.run(["submit"] + asked + other)
                #expect(
                    refused.status == 64 && refused.errors.contains("belongs to job \(first.job)"), "\(refused.errors)")
                #expect(refused.output.isEmpty)
            }
        }
    }

    @Test(.timeLimit(.programs))
    func aDateStaysWhenAFormatIsAdded() async throws {
        try await world { cluster, origin, _ in
            let asked = ["LI", "--zoom", "0-6", "--tileset", origin.tileset]
            _ = try await cluster.build(asked + ["--data-date", "2026-05-05"])
            _ = try await cluster.build(asked + ["--format", "mbtiles,pmtiles"])
            let index = try String(contentsOf: cluster.catalog.appending(path: "catalog.json"), encoding: .utf8)
            #expect(index.contains("2026-05-05") && index.contains("LI.pmtiles"), "\(index)")
        }
    }

    @Test(.timeLimit(.programs))
    func aPausedJobThatWasOvertakenDoesNotGoOn() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(latency: .milliseconds(80), in: scratch)
        defer { origin.server.stop() }
        let cluster = try await Cluster(workers: 1, in: scratch)
        let area = ["EE", "--zoom", "0-11", "--tileset", origin.tileset]
        let old = try await cluster.submit(area)
        try await Eventually.holds("it has some tiles") { try await cluster.status(old).batchesDone >= 1 }
        #expect(try await cluster.run(["pause", old]).status == 0)
        let new = try await cluster.build(area + ["--request-id", "again"])
        #expect("\(new.job)" != old && new.reused == 0)
        for order in [["resume", old], ["priority", old, "3"]] {
            let refused = try await cluster.run(order)
            #expect(refused.status == 65, "\(refused.errors)")
            #expect(refused.errors.contains("job \(new.job) has published package 'EE'"), "\(refused.errors)")
            #expect(refused.errors.contains("cancel it"), "\(refused.errors)")
        }
        #expect(try await cluster.run(["cancel", old]).status == 0)
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aFailedJobDoesNotTurnTheCatalogBack() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(breaking: 50, in: scratch)
        defer { origin.server.stop() }
        let cluster = try await Cluster(workers: 1, in: scratch)
        let area = ["EE", "--zoom", "0-9", "--tileset", origin.tileset]
        let failed = try await cluster.submit(area + ["--allowed-missing", "0"])
        #expect(try await cluster.run(["watch", failed, "--progress", "none", "--timeout", "4"]).status != 0)
        #expect(try await cluster.status(failed).state == "failed")
        _ = try await cluster.build(area + ["--allowed-missing", "0.5"])
        let refused = try await cluster.run(["retry", failed])
        #expect(refused.status == 65 && refused.errors.contains("has published package 'EE' after job \(failed)"))
        // Failed tiles stay named if they will not be tried again.
        let before = try await cluster.status(failed).failures.map(\.tile)
        #expect(!before.isEmpty)
        _ = try await cluster.run(["failed", "drop", failed])
        #expect(try await cluster.status(failed).failures.map(\.tile) == before)
        let dead = try await cluster.run(["failed", "list", failed, "--json"]).output
        #expect((try JSONSerialization.jsonObject(with: Data(dead.utf8)) as? [Any])?.isEmpty == true, "\(dead)")
        try await cluster.stop()
    }
}
