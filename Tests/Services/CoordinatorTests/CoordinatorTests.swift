import Blobs
import Errors
import Foundation
import Scheduling
import Shards
import StateBackups
import Testing
import Tiles
import Wire
import ZeroMQ

@testable import Coordinator

@Suite(.timeLimit(.minutes(15)))
struct CoordinatorTests {
    @Test func aJobRunsFromSubmissionToTheCatalog() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let submitted = try await talker.submit(try Fixture.submission(side: 4))
            #expect(submitted.tiles == 16 * 21)
            let workers = try (0..<3).map {
                try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "w\($0)")
            }
            let status = try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in workers { group.addTask { try await worker.work() } }
                defer { group.cancelAll() }
                return try await talker.watch(submitted.job) { $0.state == "done" }
            }
            #expect(status.stored == submitted.tiles)
            #expect(status.batchesDone == submitted.batches)
            #expect(status.packages.map(\.state) == ["published"])
            #expect(status.packages.allSatisfy { $0.path.hasPrefix("/") && $0.path.hasSuffix("packages/1/P0.mbtiles") })
            #expect(
                FileManager.default.fileExists(
                    atPath: fixture.options.catalog.appendingPathComponent("packages/1/P0.mbtiles").path))
            // The shards go with the job; what is left in the store is its id.
            let deadline = ContinuousClock.now + .seconds(60)
            while leftBlobs(fixture) > 0, ContinuousClock.now < deadline {
                _ = try await talker.ask(.ping(PBPing()))
            }
            #expect(leftBlobs(fixture) == 0)
        }
    }

    private func leftBlobs(_ fixture: Fixture) -> Int {
        let walk = FileManager.default.enumerator(
            at: fixture.options.blobs, includingPropertiesForKeys: [.isRegularFileKey])
        var count = 0
        while let url = walk?.nextObject() as? URL {
            // One that is removed in this moment is no longer left.
            let values = try? url.resourceValues(forKeys: [.isRegularFileKey])
            let name = url.lastPathComponent
            if values?.isRegularFile == true, name != "store-id", name != ClaimFile.blobsName { count += 1 }
        }
        return count
    }

    @Test func healthAndWorkersAreTold() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            guard case .health(let health) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
            #expect(health.state == "serving")
            #expect(health.epoch == 1)
            let storeID = try fixture.blobs().id
            #expect(health.blobStore == storeID)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "mule")
            guard case .welcome(let welcome) = try await worker.talker.ask(worker.hello()) else {
                throw Talker.Silence()
            }
            #expect(welcome.heartbeatMs == 5_000)
            guard case .workers(let workers) = try await talker.ask(.listWorkers(PBListWorkers())) else {
                throw Talker.Silence()
            }
            #expect(workers.workers.map(\.name) == ["mule"])
            #expect(workers.workers.map(\.state) == ["ready"])
        }
    }

    @Test func aSecondCoordinatorOnTheSameFolderIsRefused() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { _ in
            do {
                _ = try StateStore(folder: fixture.options.data)
                Issue.record("opened twice")
            } catch let error as CoordinatorError {
                #expect(error.code == .dataInUse)
                #expect(error.message.contains("Another coordinator is using"))
            }
        }
    }

    @Test func afterARestartTheJobGoesOnAndHeldLeasesAreAdopted() async throws {
        let fixture = try Fixture()
        let session: UInt64 = 4_711
        let (job, held, batches) = try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let submitted = try await talker.submit(try Fixture.submission(request: "r1", side: 4))
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), session: session)
            _ = try await worker.talker.ask(worker.hello())
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            let first = try await worker.nextOffer()
            guard case .ack(let ack) = try await worker.talker.ask(.commit(try worker.result(of: first))) else {
                throw Talker.Silence()
            }
            #expect(ack.token == first.token)
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            return (submitted.job, try await worker.nextOffer(), submitted.batches)
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            guard case .health(let health) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
            #expect(health.epoch == 2)
            let again = try await talker.submit(try Fixture.submission(request: "r1", side: 4))
            #expect(again.existing && again.job == job && again.batches == batches)
            let status = try await talker.watch(job) { _ in true }
            #expect(status.batchesDone == 1)
            #expect(status.batchesLeased == 1)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), session: session)
            guard case .unknownSession = try await worker.talker.ask(.commit(try worker.result(of: held))) else {
                throw Talker.Silence()
            }
            guard case .welcome(let welcome) = try await worker.talker.ask(worker.hello(held: [held.token])) else {
                throw Talker.Silence()
            }
            #expect(welcome.adopted == [held.token])
            guard case .ack = try await worker.talker.ask(.commit(try worker.result(of: held))) else {
                throw Talker.Silence()
            }
            let other = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            let end = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await other.work() }
                defer { group.cancelAll() }
                return try await talker.watch(job) { $0.state == "done" }
            }
            #expect(end.stored == 16 * 21)
        }
    }

    @Test func workOfASilentWorkerGoesToAnother() async throws {
        // Long enough for the living one, however busy the machine is.
        let fixture = try Fixture { $0.leaseSeconds = 3 }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let submitted = try await talker.submit(try Fixture.submission())
            let dead = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "dead")
            _ = try await dead.talker.ask(dead.hello())
            try await dead.talker.say(.ready(.make { $0.credit = 1 }))
            let lost = try await dead.nextOffer()
            let other = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), name: "alive")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await other.work() }
                defer { group.cancelAll() }
                _ = try await talker.watch(submitted.job) { $0.state == "done" }
            }
            // The same bytes under the lost lease: too late.
            guard case .stale(let stale) = try await dead.talker.ask(.commit(try dead.result(of: lost))) else {
                throw Talker.Silence()
            }
            #expect(stale.token == lost.token)
        }
    }

    @Test func aCommitWhoseBlobIsNotThereIsRefused() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let submitted = try await talker.submit(try Fixture.submission())
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            _ = try await worker.talker.ask(worker.hello())
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            var commit = try worker.result(of: try await worker.nextOffer())
            commit.fetch.shard = Data(repeating: 7, count: 32)
            guard case .stale(let stale) = try await worker.talker.ask(.commit(commit)) else { throw Talker.Silence() }
            #expect(stale.reason == "blob-missing")
            let status = try await talker.watch(submitted.job) { _ in true }
            #expect(status.stored == 0)
        }
    }

    @Test func cancelReachesTheWorkerAndTheJobEnds() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let submitted = try await talker.submit(try Fixture.submission())
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            _ = try await worker.talker.ask(worker.hello())
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            let offer = try await worker.nextOffer()
            guard case .done = try await talker.ask(.cancelJob(.make { $0.job = submitted.job })) else {
                throw Talker.Silence()
            }
            let cancelled = try await worker.next { if case .pong(let pong) = $0 { pong.cancelled } else { nil } }
            #expect(cancelled == [offer.token])
            #expect(try await talker.watch(submitted.job) { _ in true }.state == "cancelled")
            #expect(try await talker.problem(.cancelJob(.make { $0.job = 99 })).code == "unknown-job")
        }
    }

    @Test func failedTilesAreInTheReport() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let submitted = try await talker.submit(try Fixture.submission(zooms: 10...10))
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            _ = try await worker.talker.ask(worker.hello())
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            let offer = try await worker.nextOffer()
            var commit = try worker.result(of: offer)
            commit.fetch.stored = 0
            commit.fetch.failed = 1
            commit.fetch.failures = [
                .make {
                    $0.tile = PBTile(TileID(zoom: 10, x: 500, y: 300) ?? .root)
                    $0.cause = "html-page"
                    $0.detail = "an error page"
                }
            ]
            guard case .ack = try await worker.talker.ask(.commit(commit)) else { throw Talker.Silence() }
            let status = try await talker.watch(submitted.job) { $0.state == "failed" }
            #expect(status.failed == 1)
            #expect(status.failures.map(\.cause) == ["html-page"])
            #expect(status.reason.contains("html-page"))
        }
    }

    @Test func aFullDiskDegradesAndLosesNothing() async throws {
        // The worker is silent for as long as the test takes on a busy machine.
        let fixture = try Fixture { $0.leaseSeconds = 120 }
        try await fixture.withCoordinator { service in
            let store = service.environment.store
            let talker = try Talker(service.controlEndpoint)
            let before = try await talker.submit(try Fixture.submission())
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            _ = try await worker.talker.ask(worker.hello())
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            let commit = try worker.result(of: try await worker.nextOffer())
            try await store.limitPages(try await store.pages())
            // Too large for what is left: the submitter is told at once, and gets the answer when there is space.
            let waiting = try Talker(service.controlEndpoint)
            try await waiting.say(.submit(try Fixture.submission(request: "big", id: "BIG", zooms: 10...14, side: 300)))
            var state = ""
            let deadline = ContinuousClock.now + .seconds(60)
            while state != "degraded", ContinuousClock.now < deadline {
                guard case .health(let health) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
                state = health.state
            }
            #expect(state == "degraded")
            let told = try await waiting.link.receive(upTo: .seconds(20))
            guard case .problem(let wait) = try Frame(decoding: try #require(told.first)).message else {
                throw Talker.Silence()
            }
            #expect(wait.code == "degraded" && wait.retriable && wait.text.contains("its disk is full"))
            #expect(wait.text.contains(fixture.options.data.path) && wait.hint.contains("free space on the disk of"))
            #expect(try await talker.problem(.listJobs(PBListJobs())).code == "degraded")
            try await worker.talker.say(.commit(commit))
            #expect(try await worker.receive(upTo: .milliseconds(300)).isEmpty)

            try await store.limitPages(1_000_000)
            let answer = try await waiting.link.receive(upTo: .seconds(20))
            guard case .submitted(let big) = try Frame(decoding: try #require(answer.first)).message else {
                throw Talker.Silence()
            }
            #expect(big.job == before.job + 1)
            guard case .health(let health) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
            #expect(health.state == "serving")
            // The worker repeats itself, as it does for any commit without an answer.
            let token = try await worker.talker.ask(.commit(commit))
            guard case .ack(let ack) = token else { throw Talker.Silence() }
            #expect(ack.token == commit.token)
        }
    }
}
