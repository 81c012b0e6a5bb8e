import Blobs
import Digests
import Files
import Foundation
import GRDB
import Scheduling
import Testing
import Tiles
import Wire

@testable import Coordinator

/// Packages in several formats, through a real coordinator, its state file and its catalog.
@Suite(.timeLimit(.minutes(15)))
struct CoordinatorFormatTests {
    private func submission(_ formats: [String], id: String = "P0") throws -> PBSubmit {
        var body = try Fixture.submission(id: id)
        body.formats = formats
        return body
    }

    private func digest(of path: String) throws -> Data {
        Data(Digest(of: try Data(contentsOf: URL(filePath: path))).bytes)
    }

    @Test func aJobInThreeFormatsIsPublishedWholeAndItsBlobsGo() async throws {
        let fixture = try Fixture()
        let status = try await fixture.withCoordinator { service in
            let worker = try FakeWorker(
                service.workEndpoint, blobs: fixture.blobs(), exports: ["carto", "mbtiles-flat", "pmtiles"])
            let talker = try Talker(service.controlEndpoint)
            var body = try submission(["pmtiles", "mbtiles", "mbtiles-flat"])
            body.publish.edition = PBEdition(group: "terrain", language: "de")
            body.publish.dataDate = "2026-10-01"
            let job = try await talker.submit(body).job
            async let _: Void = worker.work()
            let status = try await talker.watch(job) { $0.state == "done" }
            #expect(status.formats == ["mbtiles", "mbtiles-flat", "pmtiles"])
            #expect(status.edition.label == "terrain/de")
            let package = try #require(status.packages.first)
            #expect(package.path.hasSuffix("/catalog/groups/terrain/de/packages/1/P0.mbtiles"))
            let folder = URL(filePath: package.path).deletingLastPathComponent().path
            #expect(package.files.map(\.path) == ["\(folder)/P0.flat.mbtiles", "\(folder)/P0.pmtiles"])
            for file in package.files {
                #expect(try digest(of: file.path) == file.sha256)
                #expect(try Data(contentsOf: URL(filePath: file.path)).count == Int(file.size))
            }
            let blobs = try fixture.blobs()
            let named = try (package.files.map(\.sha256) + [package.sha256]).map {
                try #require(Digest(bytes: $0))
            }
            let deadline = ContinuousClock.now + .seconds(60)
            while try named.contains(where: { try blobs.url(of: $0) != nil }), ContinuousClock.now < deadline {
                _ = try await talker.ask(.ping(PBPing()))
            }
            for digest in named { #expect(try blobs.url(of: digest) == nil, "\(digest) stays") }
            return status
        }
        let report = try await StateFile.check(fixture.options.data)
        #expect(report.problems == [])
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let again = try await talker.watch(1) { $0.state == "done" }
            #expect(again.packages == status.packages)
            #expect(again.formats == status.formats)
        }
    }

    @Test func aWorkerMergesOnlyWhatItCanWrite() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let old = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "old")
            let talker = try Talker(service.controlEndpoint)
            let several = try await talker.submit(try submission(["mbtiles", "pmtiles"])).job
            let plain = try await talker.submit(try submission([], id: "P1")).job
            async let _: Void = old.work()
            _ = try await talker.watch(plain) { $0.state == "done" }
            let stuck = try await talker.watch(several) { !$0.waiting.isEmpty }
            #expect(stuck.waiting == "no connected worker writes pmtiles")
            let new = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "new", exports: ["pmtiles"])
            async let _: Void = new.work()
            let done = try await talker.watch(several) { $0.state == "done" }
            #expect(done.packages.first?.files.map(\.format) == ["pmtiles"])
        }
    }

    /// A job in PMTiles alone: its only file is the main file in every list, and all of them say so after a restart.
    @Test func pmtilesAloneIsPublishedWithoutMBTiles() async throws {
        let fixture = try Fixture()
        let status = try await fixture.withCoordinator { service in
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), exports: ["pmtiles"])
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try submission(["pmtiles"])).job
            async let _: Void = worker.work()
            let status = try await talker.watch(job) { $0.state == "done" }
            #expect(status.formats == ["pmtiles"])
            let package = try #require(status.packages.first)
            #expect(package.path.hasSuffix("/catalog/packages/1/P0.pmtiles"))
            #expect(package.files.map(\.path) == [package.path] && package.files.map(\.sha256) == [package.sha256])
            #expect(try digest(of: package.path) == package.sha256)
            let blobs = try fixture.blobs()
            let name = try #require(Digest(bytes: package.sha256))
            let deadline = ContinuousClock.now + .seconds(60)
            while try blobs.url(of: name) != nil, ContinuousClock.now < deadline {
                _ = try await talker.ask(.ping(PBPing()))
            }
            #expect(try blobs.url(of: name) == nil, "its blob stays")
            let folder = URL(filePath: package.path).deletingLastPathComponent().path
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["P0.pmtiles"])
            // The same again changes nothing, and with MBTiles it is another version.
            let both = try await talker.submit(try submission(["pmtiles", "mbtiles"])).job
            let next = try await talker.watch(both) { $0.state == "done" }.packages.first
            #expect(next?.path.hasSuffix("/catalog/packages/2/P0.mbtiles") == true && next?.version == 2)
            let lost = try await talker.submit(try submission(["pmtiles"]))
            #expect(lost.warnings.contains { $0.contains("PMTiles alone") }, "\(lost.warnings)")
            let third = try await talker.watch(lost.job) { $0.state == "done" }.packages.first
            #expect(third?.version == 3 && third?.path.hasSuffix("packages/3/P0.pmtiles") == true)
            return status
        }
        let report = try await StateFile.check(fixture.options.data)
        #expect(report.problems == [])
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let again = try await talker.watch(1) { $0.state == "done" }
            #expect(again.packages == status.packages && again.formats == ["pmtiles"])
        }
    }

    @Test func whatCannotBeBuiltIsRefusedBeforeAnyWork() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            #expect(try await talker.problem(.submit(submission(["shapefile"]))).code == "bad-format")
            #expect(try await talker.problem(.submit(submission(["maplibre"]))).code == "bad-style")
            var styled = try submission(["pmtiles"])
            styled.style = "https://tiles.example.com/style.json"
            #expect(try await talker.problem(.submit(styled)).code == "bad-style")
            styled.formats = ["maplibre"]
            styled.style = "/etc/passwd"
            #expect(try await talker.problem(.submit(styled)).code == "bad-style")
        }
    }

    @Test func formatsStylesAndEditionsAreOtherJobs() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let plain = try submission([])
            var edition = plain
            edition.publish.edition = PBEdition(group: "", language: "de")
            var styled = try submission(["maplibre"])
            styled.style = "https://tiles.example.com/a.json"
            var other = styled
            other.style = "https://tiles.example.com/b.json"
            var jobs: [UInt64] = []
            for body in [plain, try submission(["carto"]), edition, styled, other] {
                jobs.append(try await talker.submit(body).job)
            }
            #expect(jobs == [1, 2, 3, 4, 5])
            let again = try await talker.submit(try submission(["mbtiles", "carto"]))
            #expect(again.job == 2 && again.existing, "the other formats are written from mbtiles")
            let alone = try await talker.submit(try submission(["pmtiles"]))
            let both = try await talker.submit(try submission(["mbtiles", "pmtiles"]))
            #expect(alone.job == 6 && both.job == 7, "pmtiles alone is another job")
        }
    }

    @Test func theFilesOfAPackageAreStoredAndReplaced() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-old-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try StateStore(folder: folder)
        let digests = try (1...3).map { try #require(Digest(bytes: [UInt8](repeating: $0, count: 32))) }
        var job = StoredJob(
            summary: JobSummary(id: 1, requestID: "", priority: 0, weight: 1, allowedMissing: 0), batches: [],
            packages: [Package(id: "P", tiles: 9)])
        var merged = MergedPackage(digest: digests[0], size: 7, tiles: 9, tilesHash: "h")
        job.packages[0] = Self.publishing(merged)
        try await store.apply([.insertJob(job)], wall: 0)
        #expect(try await store.load().jobs.map(\.packages) == [job.packages])

        merged.files = zip(["carto", "pmtiles"], digests.dropFirst()).map {
            MergedFile(format: $0, digest: $1, size: 8)
        }
        try await store.apply([.package(1, index: 0, Self.publishing(merged))], wall: 1)
        let kept = try await store.load()
        #expect(kept.jobs[0].packages[0].merged == merged)
        #expect(StateFile.differences(kept.jobs, try await store.replay()) == [])
        #expect(try await store.allBlobs() == Set(digests))
        #expect(Set(try await store.blobs(of: 1)).isEmpty, "an unfinished job needs them")
        let summary = JobSummary(
            id: 1, requestID: "", priority: 0, weight: 1, allowedMissing: 0, state: .cancelled, reason: "by a test")
        try await store.apply([.job(summary)], wall: 2)
        #expect(Set(try await store.blobs(of: 1)) == Set(digests))
        // Merged again with fewer files: the rows of the others go.
        merged.files.removeLast()
        try await store.apply([.package(1, index: 0, Self.publishing(merged))], wall: 3)
        #expect(try await store.load().jobs[0].packages[0].merged == merged)
        try await store.apply([.forget(1)], wall: 4)
        #expect(try await store.allBlobs().isEmpty)
        await store.close()
    }

    private static func publishing(_ merged: MergedPackage) -> Package {
        Package(
            id: "P", tiles: 9, state: .publishing, attempts: 0, losses: 0, token: LeaseToken(5), owner: 0,
            manifest: nil,
            merged: merged, version: 0, path: "", trouble: nil)
    }
}
