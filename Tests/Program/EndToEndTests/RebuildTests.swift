import Foundation
import TestSupport
import Testing

/// A rebuild costs what has changed: real processes, and an origin that counts what it sends.
@Suite(.serialized)
struct RebuildTests {
    private static let area = ["EE", "LV", "LT", "--zoom", "0-11"]

    private func merges(_ job: Job, _ cluster: Cluster) async throws -> Int {
        let events = try await cluster.run(["events", "--job", "\(job.job)", "--limit", "100000"]).output
        return events.split(separator: "\n").count { $0.contains(" package ") && $0.contains(" leased ") }
    }

    private func files(_ cluster: Cluster) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: cluster.catalog.path)
            .filter { $0.hasPrefix("packages/") && $0.hasSuffix(".mbtiles") }
            .sorted()
    }

    private func isVerified(_ cluster: Cluster, _ scratch: Scratch) async throws {
        let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
    }

    @Test(.timeLimit(.programs), arguments: [1, 3])
    func onlyWhatChangedIsSentMergedAndPublished(workers: Int) async throws {
        let scratch = try Scratch()
        let origin = try ChangingOrigin(in: scratch)
        defer { origin.stop() }
        let cluster = try await Cluster(workers: workers, in: scratch)
        let arguments = Self.area + ["--tileset", origin.tileset]
        let first = try await cluster.build(arguments)
        #expect(first.packages.map(\.state) == ["published", "published", "published"])
        #expect(first.notModified == 0 && first.received > 0)
        #expect(origin.counts() == (first.tiles, 0))
        #expect(try await merges(first, cluster) >= 3)
        let list = try Data(contentsOf: cluster.catalog.appending(path: "packages.json"))
        let before = try files(cluster)

        // Nothing has changed: no body, no merge, no version.
        let second = try await cluster.build(arguments)
        #expect(origin.counts() == (0, first.tiles))
        #expect((second.notModified, second.received, second.stored) == (first.tiles, 0, first.tiles))
        #expect(second.packages.map(\.state) == ["unchanged", "unchanged", "unchanged"])
        #expect(second.packages.map(\.sha256) == first.packages.map(\.sha256))
        #expect(try await merges(second, cluster) == 0)
        #expect(try Data(contentsOf: cluster.catalog.appending(path: "packages.json")) == list)
        #expect(try files(cluster) == before)

        // A restarted coordinator knows as much. One tile of Riga has changed, deep enough to be in one country alone.
        try await cluster.coordinator?.stop()
        try await cluster.startCoordinator()
        origin.change("11/1161/627")
        let third = try await cluster.build(arguments)
        #expect(origin.counts() == (1, first.tiles - 1))
        #expect(third.packages.map(\.state) == ["unchanged", "published", "unchanged"])
        #expect(third.packages.map(\.version) == [1, 2, 1])
        #expect(try await merges(third, cluster) < 3, "Lithuania or Estonia shares no batch with Riga's")
        let packages = try files(cluster).filter { !$0.hasPrefix("patches/") }
        #expect(packages == (before + ["packages/2/LV.mbtiles"]).sorted())
        #expect(workers > 1 || origin.repeats == 0, "one worker requests each tile once")
        try await isVerified(cluster, scratch)
        try await cluster.stop()

        // The rebuilt package is the one that is made from nothing.
        let alone = try await Cluster(workers: 2, coordinatorArguments: ["--keep-tiles", "0"], in: scratch)
        let fresh = try await alone.build(arguments)
        #expect(fresh.packages.map(\.sha256) == third.packages.map(\.sha256))
        try await Eventually.holds("nothing is kept where that is not wanted") { try alone.blobFiles().isEmpty }
        _ = origin.counts()
        _ = try await alone.build(arguments)
        #expect(origin.counts() == (first.tiles, 0))
        try await alone.stop()
    }

    @Test(.timeLimit(.programs))
    func anOriginWithoutValidatorsSendsAllAndNothingIsPublished() async throws {
        let scratch = try Scratch()
        let origin = try ChangingOrigin(validators: false, in: scratch)
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 2, in: scratch)
        let arguments = ["EE", "--zoom", "0-10", "--tileset", origin.tileset]
        let first = try await cluster.build(arguments)
        _ = origin.counts()
        let second = try await cluster.build(arguments)
        #expect(origin.counts() == (first.tiles, 0))
        #expect(second.notModified == 0 && second.received == first.received)
        #expect(second.packages.map(\.state) == ["unchanged"])
        #expect(try await merges(second, cluster) == 0)
        try await cluster.stop()
    }

    /// Kept shards that rot or vanish cost transfers and nothing else.
    @Test(.timeLimit(.programs), arguments: [false, true])
    func keptTilesAreAHelpAndNeverANeed(vanish: Bool) async throws {
        let scratch = try Scratch()
        let origin = try ChangingOrigin(in: scratch)
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 2, in: scratch)
        let arguments = ["EE", "--zoom", "0-10", "--tileset", origin.tileset]
        let first = try await cluster.build(arguments)
        _ = origin.counts()
        // A merged package is the catalog's file under another name: it must be gone before anything is damaged.
        try await Eventually.holds("only shards are kept") { try cluster.blobFiles().count == first.batches }
        let shards = try cluster.blobFiles()
        for shard in shards {
            if vanish {
                try FileManager.default.removeItem(at: shard)
            } else {
                var bytes = try Data(contentsOf: shard)
                bytes[bytes.count / 3] ^= 1
                try bytes.write(to: shard)
            }
        }
        let second = try await cluster.build(arguments)
        #expect(origin.counts().bodies > 0)
        #expect(second.packages.map(\.sha256) == first.packages.map(\.sha256))
        #expect(second.packages.map(\.state) == ["unchanged"])
        // Whole again: the next one is free.
        _ = origin.counts()
        _ = try await cluster.build(arguments)
        #expect(origin.counts() == (0, first.tiles))
        try await isVerified(cluster, scratch)
        try await cluster.stop()
    }

    /// A package that was taken out of the catalog is made again, although nothing has changed.
    @Test(.timeLimit(.programs))
    func whatTheCatalogLostIsMergedFromWhatIsKept() async throws {
        let scratch = try Scratch()
        let origin = try ChangingOrigin(in: scratch)
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 2, in: scratch)
        let arguments = ["EE", "--zoom", "0-9", "--tileset", origin.tileset]
        let first = try await cluster.build(arguments)
        _ = origin.counts()
        try FileManager.default.removeItem(at: cluster.catalog.appending(path: "packages/1/EE.mbtiles"))
        let second = try await cluster.build(arguments)
        #expect(origin.counts() == (0, first.tiles))
        #expect(second.packages.map(\.sha256) == first.packages.map(\.sha256))
        try await isVerified(cluster, scratch)
        try await cluster.stop()
    }

    /// The built-in world is an origin like any other, and workers that share no folder rebuild too.
    @Test(.timeLimit(.programs))
    func aWorkerWithoutTheSharedFolderRebuildsFromTheDemoWorld() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        try cluster.startStreamingWorker(scratch.url("scratch"))
        let arguments = ["LI", "--zoom", "0-12", "--tileset", origin.tileset]
        let first = try await cluster.build(arguments)
        let second = try await cluster.build(arguments)
        #expect(second.received == 0 && second.notModified == first.stored)
        #expect(second.packages.map(\.state) == ["unchanged"])
        try await cluster.stop()
    }
}
