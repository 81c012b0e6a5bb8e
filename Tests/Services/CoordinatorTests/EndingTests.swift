import Blobs
import Catalog
import CatalogFormat
import Digests
import Foundation
import Logging
import Scheduling
import Shards
import Synchronization
import Testing
import Wire
import ZeroMQ

@testable import Coordinator

/// A publisher that stops after the real work and before it reports the result, like a crash at this point.
private final class Hesitant: CatalogWriter {
    let real: CatalogFolderWriter
    private let gate = DispatchSemaphore(value: 0)
    private let reached = Mutex(false)

    init(_ catalog: Catalog) { real = CatalogFolderWriter(catalog: catalog) }

    var hasPublished: Bool { reached.withLock { $0 } }
    func open() { gate.signal() }

    var folder: URL { real.folder }

    func publish(_ requests: [PublishRequest]) -> [Result<Published, any Error>] {
        let done = real.publish(requests)
        guard !requests.isEmpty else { return done }
        reached.withLock { $0 = true }
        gate.wait()
        return done
    }

    func held(_ id: String, _ edition: CatalogEdition) throws -> [Digest: URL] { try real.held(id, edition) }
}

/// Jobs that end, or are ended, at awkward moments.
@Suite(.timeLimit(.minutes(15)))
struct EndingTests {
    /// Runs a job up to the moment when its package is in the catalog and the coordinator does not know it yet.
    ///
    /// - Parameter isHanging: Whether the publication still hangs when the coordinator ends.
    private func untilPublished(
        _ fixture: Fixture, isHanging: Bool = false,
        _ body: @escaping @Sendable (UInt64, Talker, @escaping @Sendable () -> Void) async throws -> Void
    ) async throws {
        let held = Mutex<Hesitant?>(nil)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let service = try CoordinatorService(fixture.options, logger: logger) { catalog in
            let publisher = Hesitant(catalog)
            held.withLock { $0 = publisher }
            return publisher
        }
        let publisher = try #require(held.withLock { $0 })
        let coordinator = Task { try await service.run() }
        defer { publisher.open() }
        let talker = try Talker(service.controlEndpoint)
        let submitted = try await talker.submit(try Fixture.submission(request: "r"))
        let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await worker.work() }
            defer { group.cancelAll() }
            _ = try await talker.watch(submitted.job) { _ in publisher.hasPublished }
        }
        try await body(submitted.job, talker) { publisher.open() }
        coordinator.cancel()
        if !isHanging { publisher.open() }
        _ = await coordinator.result
    }

    @Test func aCoordinatorThatDiesBetweenPublishingAndKnowingItGoesOn() async throws {
        let fixture = try Fixture()
        try await untilPublished(fixture) { job, talker, _ in
            let status = try await talker.watch(job) { _ in true }
            #expect(status.state == "publishing")
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let again = try await talker.submit(try Fixture.submission(request: "r"))
            #expect(again.existing)
            let status = try await talker.watch(again.job) { $0.state == "done" }
            #expect(status.packages.map(\.version) == [1], "published once")
            #expect(status.packages.map(\.state) == ["unchanged"])
        }
        let catalog = try Catalog(fixture.options.catalog, create: false)
        #expect(try catalog.packages().map(\.id) == ["P0"])
    }

    @Test func workThatHangsDoesNotHoldACoordinatorThatEnds() async throws {
        let fixture = try Fixture { $0.endPatience = .milliseconds(200) }
        try await untilPublished(fixture, isHanging: true) { job, talker, _ in
            let status = try await talker.watch(job) { _ in true }
            #expect(status.state == "publishing")
        }
        var options = fixture.options
        options.endPatience = .seconds(20)
        try await fixture.withCoordinator(options) { service in
            let talker = try Talker(service.controlEndpoint)
            let again = try await talker.submit(try Fixture.submission(request: "r"))
            #expect(again.existing)
            #expect(try await talker.watch(again.job) { $0.state == "done" }.packages.map(\.version) == [1])
        }
    }

    @Test func aCancelThatComesTooLateStillTellsWhatWasPublished() async throws {
        let fixture = try Fixture()
        try await untilPublished(fixture) { job, talker, open in
            guard case .done = try await talker.ask(.cancelJob(.make { $0.job = job })) else { throw Talker.Silence() }
            open()
            let status = try await talker.watch(job) { $0.packages.map(\.state) == ["published"] }
            #expect(status.state == "cancelled")
            #expect(status.packages.map(\.version) == [1])
        }
    }

    @Test func aPackageWhoseMergerVanishesIsMergedByAnother() async throws {
        let fixture = try Fixture { $0.leaseSeconds = 10 }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let submitted = try await talker.submit(try Fixture.submission(zooms: 10...10))
            let dead = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "dead")
            _ = try await dead.talker.ask(dead.hello())
            try await dead.talker.say(.ready(.make { $0.credit = 1 }))
            try await dead.talker.say(.commit(try dead.result(of: try await dead.nextOffer())))
            try await dead.talker.say(.ready(.make { $0.credit = 1 }))
            let merge = try await dead.next { message -> PBOffer? in
                if case .offer(let offer) = message, case .merge = offer.work { offer } else { nil }
            }
            let late = try dead.result(of: merge)
            let other = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "alive")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await other.work() }
                defer { group.cancelAll() }
                _ = try await talker.watch(submitted.job) { $0.state == "done" }
            }
            guard case .stale(let stale) = try await dead.talker.ask(.commit(late)) else {
                throw Talker.Silence()
            }
            #expect(stale.token == merge.token)
        }
    }

    @Test func aJobOfEmptyTilesFailsAndTheCatalogStaysEmpty() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let submitted = try await talker.submit(try Fixture.submission(zooms: 10...10))
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            _ = try await worker.talker.ask(worker.hello())
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            var commit = try worker.result(of: try await worker.nextOffer())
            commit.fetch.empty = commit.fetch.stored
            commit.fetch.stored = 0
            try await worker.talker.say(.commit(commit))
            let status = try await talker.watch(submitted.job) { $0.state == "failed" }
            #expect(status.reason.hasPrefix("no-tiles: "))
            #expect(status.reason.contains("the tileset's url"))
        }
        #expect(try Catalog(fixture.options.catalog, create: false).packages().isEmpty)
    }

    @Test func onlySoManyEndedJobsAreKept() async throws {
        let fixture = try Fixture { $0.keptJobs = 2 }
        let listed: @Sendable (Talker) async throws -> [UInt64] = { talker in
            guard case .jobs(let jobs) = try await talker.ask(.listJobs(PBListJobs())) else { throw Talker.Silence() }
            return jobs.jobs.filter { !$0.summary }.map(\.job)
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            for number in 1...5 {
                let job = try await talker.submit(try Fixture.submission(request: "r\(number)", id: "P\(number)")).job
                if number < 5 { _ = try await talker.ask(.cancelJob(.make { $0.job = job })) }
            }
            let deadline = ContinuousClock.now + .seconds(60)
            while try await listed(talker).count > 3, ContinuousClock.now < deadline {}
            #expect(try await listed(talker) == [3, 4, 5])
            guard case .jobStatus(let old) = try await talker.ask(.getJob(.make { $0.job = 1 })) else {
                throw Talker.Silence()
            }
            #expect(old.summary)
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            #expect(try await listed(talker) == [3, 4, 5])
            #expect(try await talker.submit(try Fixture.submission(request: "r1")).job == 6)
        }
    }

    @Test func blobsNobodyNamesGoAtTheNextIdleStart() async throws {
        let fixture = try Fixture()
        let (old, young) = try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            _ = try await talker.submit(try Fixture.submission())
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            return (try worker.put("late"), try worker.put("new"))
        }
        let file = try #require(try fixture.blobs().url(of: old.0))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -7_200)], ofItemAtPath: file.path)
        // A job is open: nothing is touched.
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            _ = try await talker.ask(.cancelJob(.make { $0.job = 1 }))
        }
        #expect(try fixture.blobs().url(of: old.0) != nil)
        // Closing waits for the sweep.
        try await fixture.withCoordinator { service in
            _ = try await Talker(service.controlEndpoint).ask(.ping(PBPing()))
        }
        #expect(try fixture.blobs().url(of: old.0) == nil)
        #expect(try fixture.blobs().url(of: young.0) != nil, "younger than an hour")
    }
}
