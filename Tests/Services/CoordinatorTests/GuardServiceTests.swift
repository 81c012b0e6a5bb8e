import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import Testing
import Tiles
import Wire

@testable import Coordinator

/// A package that is not published because it looks like a mistake, and the retry that allows it.
@Suite(.timeLimit(.minutes(15)))
struct GuardServiceTests {
    /// A catalog whose package P0 has a thousand tiles of the area that the fixture's jobs are about.
    private func publish(_ fixture: Fixture, _ mask: TileMask, attribution: String = "") throws {
        let catalog = try Catalog(fixture.options.catalog, create: true)
        let file = fixture.folder.appending(path: "first")
        let bytes = [UInt8](repeating: 1, count: 100_000)
        try Durable.write(bytes, to: file)
        var request = PublishRequest(
            id: "P0", file: file, digest: Digest(of: bytes), size: UInt64(bytes.count), maskWire: mask.cartoWire,
            names: ["en": "Test/P0"], tilesHash: "hash")
        request.tiles = 1_000
        request.attribution = attribution
        request.tileset = "demo"
        request.zooms = ZoomRange(min: 10, max: 12)
        _ = try catalog.publish(request)
    }

    private func retry(_ talker: Talker, _ job: UInt64, allow: Bool) async throws -> String {
        let order = PBJobOrder.make {
            $0.job = job
            $0.order = "retry"
            $0.publish.allowsShrink = allow
        }
        guard case .ordered(let answer) = try await talker.ask(.jobOrder(order)) else { throw Talker.Silence() }
        return answer.text
    }

    @Test func aJobWhosePackageShrankFailsAndARetryPublishesItWithoutFetching() async throws {
        let fixture = try Fixture()
        let body = try Fixture.submission()
        try publish(fixture, try TileMask(decoding: body.packages[0].mask).expanded(toZoom: 12))
        let job = try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(body).job
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                for _ in 0..<2 {
                    let failed = try await talker.watch(job) { ["done", "failed"].contains($0.state) }
                    #expect(failed.state == "failed")
                    #expect(failed.reason.contains("package-shrunk"), "\(failed.reason)")
                    #expect(failed.reason.contains("--allow-shrink"), "\(failed.reason)")
                    // Without the option it fails again.
                    _ = try await retry(talker, job, allow: false)
                }
                _ = try await talker.watch(job) { ["done", "failed"].contains($0.state) }
            }
            return job
        }
        #expect(try Catalog(fixture.options.catalog, create: false).packages().map(\.version) == [1])
        // The permission outlives the coordinator that took it.
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let text = try await retry(talker, job, allow: true)
            #expect(text.contains("2 of 2 batches are done"), "\(text)")
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            let done = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                return try await talker.watch(job) { ["done", "failed"].contains($0.state) }
            }
            #expect(done.state == "done", "\(done.reason)")
        }
        #expect(try Catalog(fixture.options.catalog, create: false).packages().map(\.version) == [2])
    }

    /// The catalog that a job was weighed against may be another when it publishes.
    @Test func anotherAreaIsRefusedAtSubmissionAndAtPublication() async throws {
        let fixture = try Fixture()
        let away = TileMask(tiles: [try #require(TileID(zoom: 10, x: 1, y: 1))], maxZoom: 10).expanded(toZoom: 12)
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try Fixture.submission()).job
            try publish(fixture, away)
            for dry in [true, false] {
                var slip = try Fixture.submission(id: "P0", zooms: 10...11)
                slip.dryRun = dry
                #expect(try await talker.problem(.submit(slip)).code == "other-area")
                slip.publish.replacesArea = true
                slip.dryRun = true
                #expect(try await !talker.submit(slip).warnings.contains { $0.contains("--replace-area") })
            }
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            let failed = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                return try await talker.watch(job) { ["done", "failed"].contains($0.state) }
            }
            #expect(failed.state == "failed" && failed.reason.contains("other-area"), "\(failed.reason)")
        }
    }

    @Test func aSubmissionOfFarFewerTilesIsWarned() async throws {
        let fixture = try Fixture()
        let body = try Fixture.submission(zooms: 10...10)
        try publish(fixture, try TileMask(decoding: body.packages[0].mask).expanded(toZoom: 12))
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            var less = body
            less.dryRun = true
            let warned = try await talker.submit(less).warnings
            #expect(warned.contains { $0.contains("asks for 1 tiles") && $0.contains("--allow-shrink") }, "\(warned)")
            less.publish.allowsShrink = true
            #expect(try await !talker.submit(less).warnings.contains { $0.contains("--allow-shrink") })
        }
    }

    @Test func aSubmissionWithoutRoomOrAttributionIsWarned() async throws {
        let fixture = try Fixture()
        var draft = try Fixture.submission()
        draft.dryRun = true
        let body = draft
        try publish(fixture, try TileMask(decoding: body.packages[0].mask).expanded(toZoom: 12), attribution: "© A")
        let list = fixture.options.catalog.appending(path: "packages.json")
        let text = try String(contentsOf: list, encoding: .utf8)
        let larger = text.replacing("\"size\" : 100000", with: "\"size\" : 9000000000000000000")
        try #require(larger != text)
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let roomy = try await talker.submit(body).warnings
            #expect(!roomy.contains { $0.contains(" free") }, "\(roomy)")
            #expect(roomy.contains { $0.contains("loses its attribution") && $0.contains("© A") }, "\(roomy)")
            try Data(larger.utf8).write(to: list)
            let warned = try await talker.submit(body).warnings
            #expect(warned.contains { $0.contains(" free") && $0.contains("--keep-versions") }, "\(warned)")
        }
    }
}
