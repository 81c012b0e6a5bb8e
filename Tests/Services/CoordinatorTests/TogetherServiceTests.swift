import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import Testing
import Tiles
import Wire

@testable import Coordinator

/// Jobs that publish all of their packages in one change.
@Suite(.timeLimit(.minutes(15)))
struct TogetherServiceTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// A job with two packages of different places.
    private func submission(_ zooms: ClosedRange<UInt32> = 10...12) throws -> PBSubmit {
        var body = try Fixture.submission(zooms: zooms)
        let tile = try #require(TileID(zoom: 10, x: 700, y: 300))
        let mask = TileMask(tiles: [tile], maxZoom: 10).expanded(toZoom: Int(zooms.upperBound))
        body.packages.append(
            .make {
                $0.id = "P1"
                $0.mask = Data(mask.encoded())
                $0.names = ["en": "Test/P1"]
            })
        body.publish.together = true
        return body
    }

    private func listed() throws -> [String] {
        try Catalog(fixture.options.catalog, create: false).packages().map { "\($0.id) \($0.version)" }
    }

    /// A worker that merges only the first package that it is offered; its session and the lease of the other stay open.
    private func mergeOne(_ service: CoordinatorService, _ body: PBSubmit) async throws -> UInt64 {
        let talker = try Talker(service.controlEndpoint)
        let job = try await talker.submit(body).job
        let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
        try await worker.talker.say(worker.hello())
        var merged = false
        while !merged {
            for message in try await worker.receive(upTo: .milliseconds(200)) {
                switch message {
                case .welcome: try await worker.talker.say(.ready(.make { $0.credit = 1 }))
                case .offer(let offer):
                    try await worker.talker.say(.commit(try worker.result(of: offer)))
                    if case .merge = offer.work { merged = true }
                    if !merged { try await worker.talker.say(.ready(.make { $0.credit = 1 })) }
                default: break
                }
            }
        }
        let status = try await talker.watch(job) { $0.packages.contains { $0.state == "publishing" } }
        #expect(status.state == "merging")
        return job
    }

    private func finish(_ service: CoordinatorService, _ job: UInt64) async throws -> PBJobStatus {
        let talker = try Talker(service.controlEndpoint)
        let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "second")
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await worker.work() }
            defer { group.cancelAll() }
            return try await talker.watch(job) { ["done", "failed"].contains($0.state) }
        }
    }

    @Test func nothingIsListedBeforeEverythingIsMerged() async throws {
        let job = try await fixture.withCoordinator { service in
            let job = try await mergeOne(service, try submission())
            #expect(try listed() == [])
            return job
        }
        // The merged one waits over a restart.
        try await fixture.withCoordinator { service in
            #expect(try listed() == [])
            let done = try await finish(service, job)
            #expect(done.state == "done" && done.packages.map(\.version) == [1, 1], "\(done.reason)")
            #expect(try listed() == ["P0 1", "P1 1"])
        }
    }

    /// Publishes a package that is much larger than that of the job.
    private func publishLarge(_ id: String) throws {
        let file = fixture.folder.appendingPathComponent("large")
        try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
        let bytes = [UInt8](repeating: 7, count: 100_000)
        try Data(bytes).write(to: file)
        let mask = try TileMask(decoding: try #require(try submission().packages.first { $0.id == id }).mask)
        let catalog = try Catalog(fixture.options.catalog, create: true)
        _ = try catalog.publish(
            PublishRequest(
                id: id, file: file, digest: Digest(of: bytes), size: UInt64(bytes.count), maskWire: mask.cartoWire,
                names: ["en": "Test"], tilesHash: "D41D8CD98F00B204E9800998ECF8427E"))
    }

    @Test func aRefusedPackageHoldsAllBackUntilItIsAllowed() async throws {
        try publishLarge("P1")
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try submission()).job
            let failed = try await finish(service, job)
            #expect(failed.state == "failed" && failed.reason.contains("nothing is published"), "\(failed.reason)")
            #expect(failed.reason.contains("package-shrunk") && failed.reason.contains("--apart"), "\(failed.reason)")
            #expect(try listed() == ["P1 1"])
            _ = try await talker.ask(
                .jobOrder(
                    .make {
                        ($0.job, $0.order) = (job, "retry")
                        $0.publish.allowsShrink = true
                    }))
            let done = try await finish(service, job)
            #expect(done.state == "done", "\(done.reason)")
            #expect(try listed() == ["P0 1", "P1 2"])
        }
    }

    @Test func aRetryApartPublishesWhatIsReady() async throws {
        try publishLarge("P1")
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try submission()).job
            #expect(try await finish(service, job).state == "failed")
            _ = try await talker.ask(
                .jobOrder(
                    .make {
                        ($0.job, $0.order, $0.apart) = (job, "retry", true)
                    }))
            let again = try await finish(service, job)
            #expect(again.state == "failed" && again.reason.contains("the other is published"), "\(again.reason)")
            #expect(try listed() == ["P0 1", "P1 1"])
        }
        // The job is apart after a restart, too.
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            _ = try await talker.ask(.jobOrder(.make { ($0.job, $0.order) = (1, "retry") }))
            #expect(try await finish(service, 1).reason.contains("the other is published"))
        }
    }

    /// The same packages again are found in the catalog, and no version is new.
    @Test func theSamePackagesChangeNothing() async throws {
        let index = fixture.options.catalog.appending(path: "catalog.json")
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            #expect(try await finish(service, try await talker.submit(try submission()).job).state == "done")
            let before = try Data(contentsOf: index)
            var body = try submission()
            body.requestID = "again"
            let again = try await finish(service, try await talker.submit(body).job)
            #expect(again.state == "done" && again.packages.map(\.state) == ["unchanged", "unchanged"])
            #expect(try Data(contentsOf: index) == before)
        }
    }
}
