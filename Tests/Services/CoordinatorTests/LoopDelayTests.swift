import Digests
import Errors
import Foundation
import GRDB
import Scheduling
import Shards
import Synchronization
import Testing
import Tiles
import Wire

@testable import Coordinator

/// How long the loop leaves a heartbeat without an answer while it serves commands on a large state.
@Suite(.timeLimit(.minutes(15)))
struct LoopDelayTests {
    private static let isMeasured = ProcessInfo.processInfo.environment["PACKHORSE_MEASURE_LOOP"] != nil

    /// Slices of one page make the backup slow.
    ///
    /// A loop that waits for it answers one or two heartbeats.
    @Test func heartbeatsAreAnsweredWhileABackupRuns() async throws {
        let fixture = try Fixture { $0.backupPages = 1 }
        try await fixture.withCoordinator { service in
            let client = try Talker(service.controlEndpoint)
            try await service.environment.store.perform { db in
                try db.execute(
                    sql: """
                        WITH RECURSIVE line (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM line WHERE n < 20000)
                        INSERT INTO event (wall, job, kind, data) SELECT n, 0, 2, zeroblob(100) FROM line
                        """)
            }
            let probe = HeartbeatProbe(try FakeWorker(service.workEndpoint, blobs: try fixture.blobs()))
            try await probe.connect()
            let delays = try await probe.delays {
                guard case .backedUp(let backup) = try await client.ask(.backup(PBBackup())) else {
                    throw Talker.Silence()
                }
                #expect(backup.bytes > 1_000_000)
            }
            #expect(delays.count >= 5, "\(delays)")
        }
    }

    /// Prints the longest delay of a heartbeat during each command on a planet of 65,793 batches.
    ///
    /// A machine that does nothing else is needed. Run it with PACKHORSE_MEASURE_LOOP=1.
    @Test(.enabled(if: isMeasured))
    func noReadOfAPlanetDelaysAHeartbeat() async throws {
        let fixture = try Fixture {
            $0.keepShards = true
            $0.leaseSeconds = 600
        }
        let submission = try Fixture.planet()
        try await fixture.withCoordinator { service in
            let client = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: try fixture.blobs())
            let probe = HeartbeatProbe(worker)
            try await probe.connect()
            try await probe.report("nothing") { try await Task.sleep(for: .seconds(1)) }
            try await probe.report("submit planet") {
                print(try await client.submit(submission).batches, "batches")
            }
            try await probe.report("backup") { print(try await client.ask(.backup(PBBackup()))) }
            try await probe.report("events x20") {
                for _ in 0..<20 {
                    _ = try await client.ask(
                        .getEvents(
                            .make {
                                $0.newest = 5_000
                                $0.limit = 5_000
                            }))
                }
            }
            try await probe.report("cancel") {
                _ = try await client.ask(.cancelJob(.make { $0.job = 1 }))
                _ = try await client.watch(1) { $0.state == "cancelled" }
            }
            try await probe.report("retry") {
                print(
                    try await client.ask(
                        .jobOrder(
                            .make {
                                $0.job = 1
                                $0.order = "retry"
                            })))
            }
        }
        try await fixture.rewrite(job: "state = 'failed', ended = 1") { _, batch in
            batch.rewritten(.dead, trouble: Trouble(cause: "http-500", detail: "x"))
        }
        try await fixture.withCoordinator { service in
            let client = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: try fixture.blobs())
            let probe = HeartbeatProbe(worker)
            try await probe.connect()
            try await probe.report("failed list, 10 pages of 1000, with 8 followers of events") {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            let follower = try Talker(service.controlEndpoint)
                            for _ in 0..<3 {
                                _ = try await follower.ask(
                                    .getEvents(
                                        .make {
                                            $0.after = 1 << 40
                                            $0.waitMs = 300
                                            $0.limit = 5000
                                            $0.job = 1
                                        }))
                            }
                        }
                    }
                    for page in 0..<10 {
                        _ = try await client.ask(
                            .listFailed(
                                .make {
                                    $0.limit = 1000
                                    $0.after = UInt64(page * 1000 + 1) | 1 << 32
                                }))
                    }
                    try await group.waitForAll()
                }
            }
            try await probe.report("status with 10000 failures") {
                _ = try await client.ask(
                    .getJob(
                        .make {
                            $0.job = 1
                            $0.failures = 10_000
                        }))
            }
            try await probe.report("failed drop of one batch") {
                print(
                    try await client.ask(
                        .failedOrder(
                            .make {
                                $0.job = 1
                                $0.order = "drop"
                                $0.batches = [5]
                            })))
            }
            try await probe.report("failed requeue of all") {
                print(
                    try await client.ask(
                        .failedOrder(
                            .make {
                                $0.job = 1
                                $0.order = "requeue"
                            })))
            }
            try await probe.report("backup") { print(try await client.ask(.backup(PBBackup()))) }
        }
        try await fixture.rewrite(job: "allowed_missing = 1") { index, batch in
            index < 100 ? batch : batch.rewritten(.dead, trouble: Trouble(cause: "http-500", detail: "x"))
        }
        try await fixture.withCoordinator { service in
            let client = try Talker(service.controlEndpoint)
            let probe = HeartbeatProbe(try FakeWorker(service.workEndpoint, blobs: try fixture.blobs()))
            try await probe.connect()
            try await probe.report("failed requeue of all of a running job") {
                print(
                    try await client.ask(
                        .failedOrder(
                            .make {
                                $0.job = 1
                                $0.order = "requeue"
                            })))
            }
        }
        var options = fixture.options
        options.keepShards = false
        try await fixture.rewrite(job: "state = 'fetching'") { index, batch in
            let digest = Digest(bytes: (0..<32).map { UInt8(truncatingIfNeeded: index >> ($0 % 4 * 8)) })
            return index == 0 ? batch : batch.rewritten(.done, digest: digest)
        }
        try await fixture.withCoordinator(options) { service in
            let client = try Talker(service.controlEndpoint)
            let probe = HeartbeatProbe(try FakeWorker(service.workEndpoint, blobs: try fixture.blobs()))
            try await probe.connect()
            try await probe.report("cancel and removal of 65,792 shards") {
                _ = try await client.ask(.cancelJob(.make { $0.job = 1 }))
                // The measured time: the shards are removed in it. The test runs only when PACKHORSE_MEASURE_LOOP is set.
                try await Task.sleep(for: .seconds(5))
            }
        }
        let store = try StateStore(folder: fixture.options.data)
        #expect(try await store.unreleased().isEmpty)
        #expect(try await store.perform { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") } == 0)
        await store.close()
    }
}

extension LoopDelayTests {
    /// The same while a planet of failed batches, with their failed tiles and lines in the log, is forgotten.
    @Test(.enabled(if: isMeasured))
    func noForgottenPlanetDelaysAHeartbeat() async throws {
        let fixture = try Fixture {
            $0.keepShards = true
            $0.keptJobs = 1
        }
        try await fixture.withCoordinator { service in
            let client = try Talker(service.controlEndpoint)
            print(try await client.submit(try Fixture.planet()).batches, "batches")
            _ = try await client.ask(.cancelJob(.make { $0.job = 1 }))
        }
        try await fixture.failAllBatches()
        try await fixture.withCoordinator { service in
            let client = try Talker(service.controlEndpoint)
            let probe = HeartbeatProbe(try FakeWorker(service.workEndpoint, blobs: try fixture.blobs()))
            try await probe.connect()
            let store = service.environment.store
            let lines = try await store.perform { try Int.fetchOne($0, sql: "SELECT count(*) FROM event") ?? 0 }
            print(lines, "lines")
            try await probe.report("forget a planet of failed batches") {
                let small = try await client.submit(try Fixture.submission()).job
                _ = try await client.ask(.cancelJob(.make { $0.job = small }))
                while try await store.rows(of: 1) != [0, 0, 0, 0, 0, 0] {
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
        }
    }
}

/// A worker that reports all the time and measures how long each answer takes.
struct HeartbeatProbe: Sendable {
    let worker: FakeWorker

    init(_ worker: FakeWorker) { self.worker = worker }

    /// Connects the worker.
    ///
    /// It asks for no work.
    func connect() async throws {
        try await worker.talker.say(worker.hello())
        _ = try await worker.next { if case .welcome = $0 { true } else { nil } }
    }

    /// Sends one heartbeat after another while `body` runs; returns the delay of each answer.
    func delays(while body: @escaping @Sendable () async throws -> Void) async throws -> [Duration] {
        let isOver = Flag()
        return try await withThrowingTaskGroup(of: [Duration].self) { group in
            group.addTask {
                defer { isOver.set() }
                try await body()
                return []
            }
            group.addTask {
                var delays: [Duration] = []
                repeat {
                    let start = ContinuousClock.now
                    _ = try await worker.talker.ask(.progress(PBProgress()))
                    delays.append(ContinuousClock.now - start)
                    try await Task.sleep(for: .milliseconds(1))
                } while !isOver.isSet
                return delays
            }
            var all: [Duration] = []
            while let some = try await group.next() { all += some }
            return all
        }
    }

    /// Prints the longest delay while `body` runs, which must stay under the limit.
    ///
    func report(
        _ what: String, under limit: Duration = .milliseconds(50),
        while body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let start = ContinuousClock.now
        let delays = try await delays(while: body)
        let took = ContinuousClock.now - start
        print("LOOP", what, "took", took, "longest delay", delays.max() ?? .zero, "of", delays.count, "heartbeats")
        #expect(delays.max() ?? .zero < limit, "\(what)")
    }
}
