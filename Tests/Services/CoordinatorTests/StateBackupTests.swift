import Blobs
import Catalog
import Digests
import Errors
import Files
import Foundation
import Logging
import StateBackups
import TestSupport
import Testing
import Wire

@testable import Coordinator
@testable import Scheduling

/// Backups of the state: a lost coordinator goes on from them, and a replaced one changes nothing more.
@Suite(.timeLimit(.minutes(15)))
struct StateBackupTests {
    private let fixture: Fixture
    private let place: FolderBackupPlace
    /// The coordinator that is lost or replaced.
    private let first: CoordinatorOptions
    /// Its successor: another data folder, the same blobs and catalog.
    private let second: CoordinatorOptions

    init() throws {
        fixture = try Fixture()
        place = FolderBackupPlace(fixture.folder.appending(path: "place"))
        try FileManager.default.createDirectory(at: place.folder, withIntermediateDirectories: true)
        var options = fixture.options
        options.backups = BackupOptions(place, every: .seconds(1))
        first = options
        options.data = fixture.folder.appending(path: "other-data")
        second = options
    }

    /// A worker that has said hello and takes one offer at a time.
    private static func worker(_ service: CoordinatorService, _ fixture: Fixture) async throws -> FakeWorker {
        let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
        try await worker.talker.say(worker.hello())
        _ = try await worker.next { if case .welcome = $0 { true } else { nil } }
        try await worker.talker.say(.ready(.make { $0.credit = 1 }))
        return worker
    }

    @Test func aLostCoordinatorGoesOnFromTheLastBackup() async throws {
        let fixture = fixture
        let (job, epoch) = try await fixture.withCoordinator(first) { service in
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try Fixture.submission(side: 2)).job
            let worker = try await Self.worker(service, fixture)
            try await worker.talker.say(.commit(try worker.result(of: try await worker.nextOffer())))
            _ = try await talker.watch(job) { $0.batchesDone == 1 }
            return (job, service.environment.store.epoch)
        }
        // The end makes a last backup.
        try FileManager.default.removeItem(at: first.data)
        let index = try #require(try await StateFile.restoreIfMissing(from: place, into: second.data))
        #expect(index.name.epoch == epoch)
        #expect(try await StateFile.check(second.data).problems == [])
        #expect(
            try await StateFile.restoreIfMissing(from: place, into: second.data) == nil, "a state that is there stays")
        try await fixture.withCoordinator(second) { service in
            #expect(service.environment.store.epoch > epoch + 1_000)
            let talker = try Talker(service.controlEndpoint)
            let status = try await talker.watch(job) { _ in true }
            #expect(status.batchesDone == 1)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
                group.addTask { try await worker.work() }
                _ = try await talker.watch(job) { $0.state == "done" }
                group.cancelAll()
            }
        }
    }

    @Test func aReplacedCoordinatorEndsAndSaysWhy() async throws {
        let (fixture, second, place) = (fixture, second, place)
        let old = try CoordinatorService(first, logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let ended = Task { try await old.run() }
        try await Eventually.holds("a backup is made") { try await !BackupReader(place).names().isEmpty }
        _ = try #require(try await StateFile.restoreIfMissing(from: place, into: second.data))
        try await fixture.withCoordinator(second) { service in
            let error = await #expect(throws: BackupError.self) { try await ended.value }
            #expect(error?.code == .replaced && error?.message.contains("\(service.environment.store.epoch)") == true)
            let talker = try Talker(service.controlEndpoint)
            try await Eventually.holds("health knows the backup of the successor") {
                guard case .health(let health) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
                return health.backupPlace == place.name && health.backupAgeMs > 0
            }
        }
        // An empty state is refused too, and leaves nothing that would keep it from being restored.
        var empty = second
        empty.data = fixture.folder.appending(path: "empty-data")
        let other = try CoordinatorService(empty, logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() })
        #expect(await #expect(throws: BackupError.self) { try await other.run() }?.code == .foreign)
        #expect(!FileManager.default.fileExists(atPath: empty.data.appending(path: "state.sqlite").path))
        // Started again, it is refused at once.
        let (again, logger) = (first, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let refusal = await #expect(throws: BackupError.self) {
            try await CoordinatorService(again, logger: logger).run()
        }
        #expect(refusal?.code == .replaced)
    }

    /// The successor announces itself while the old one believes that all is well.
    @Test func aReplacedCoordinatorPublishesNothingAndRemovesNoBlob() async throws {
        let (fixture, place) = (fixture, place)
        var options = first
        options.backups?.every = .seconds(3_600)
        options.backups?.trust = .zero
        let service = try CoordinatorService(options, logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let ended = Task { try await service.run() }
        let talker = try Talker(service.controlEndpoint)
        let job = try await talker.submit(try Fixture.submission()).job
        let worker = try await Self.worker(service, fixture)
        let fetch = try await worker.nextOffer()
        try await Eventually.holds("a backup is made") { try await !BackupReader(place).names().isEmpty }
        var merge = fetch
        while case .fetch = merge.work {
            try await worker.talker.say(.commit(try worker.result(of: merge)))
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            merge = try await worker.nextOffer()
        }
        let claim = PlaceClaim(
            epoch: service.environment.store.epoch + 1_001, run: 1, lineage: service.environment.store.lineage)
        try await place.write([1], to: "\(claim)", of: .claims)
        try await worker.talker.say(.commit(try worker.result(of: merge)))
        let error = await #expect(throws: BackupError.self) { try await ended.value }
        #expect(error?.code == .replaced, "job \(job)")
        let list = try String(contentsOf: options.catalog.appending(path: "packages.json"), encoding: .utf8)
        #expect(!list.contains("P0"), "\(list)")
        let shard = try worker.result(of: fetch).fetch.shard
        #expect(try fixture.blobs().url(of: try #require(Digest(bytes: shard))) != nil)
    }

    /// A restored coordinator may share a catalog without any place of backups.
    @Test func theCatalogTellsThatACoordinatorWasReplaced() async throws {
        let (options, logger) = (fixture.options, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let service = try CoordinatorService(options, logger: logger)
        let ended = Task { try await service.run() }
        _ = try await Talker(service.controlEndpoint).ask(.ping(PBPing()))
        let (epoch, lineage) = (service.environment.store.epoch, service.environment.store.lineage)
        let file = Catalog.lockFile(in: options.catalog)
        let stranger = ClaimFile(file, own: PlaceClaim(epoch: epoch + 5, run: 1, lineage: lineage &+ 1))
        try stranger.announce()
        try service.environment.tenure.checkFolders()
        try ClaimFile(file, own: PlaceClaim(epoch: epoch + 1_001, run: 1, lineage: lineage)).announce()
        #expect(await #expect(throws: BackupError.self) { try await ended.value }?.code == .replaced)
        let refusal = #expect(throws: BackupError.self) { _ = try CoordinatorService(options, logger: logger) }
        #expect(refusal?.code == .replaced)
        // Another state takes the catalog over.
        var other = second
        other.backups = nil
        try await fixture.withCoordinator(other) { _ in }
    }

    @Test func noRatesAreGrantedBeforeThePlaceAnswers() async throws {
        let store = try StateStore(folder: first.data)
        let claim = PlaceClaim(epoch: store.epoch, run: 1, lineage: store.lineage)
        let later = FolderBackupPlace(fixture.folder.appending(path: "later"))
        let backups = StateBackups(
            BackupOptions(later, every: .seconds(60)), store: store, data: first.data, claim: claim)
        let watch = TenureWatch(
            claim, backups: backups, catalogs: [], blobs: nil,
            logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() })
        #expect(await #expect(throws: BackupError.self) { try await watch.ask() }?.code == .badPlace)
        #expect(!watch.mayGrant)
        try FileManager.default.createDirectory(at: later.folder, withIntermediateDirectories: true)
        try await watch.ask()
        #expect(watch.mayGrant)
        let higher = PlaceClaim(epoch: store.epoch + 1_001, run: 1, lineage: store.lineage)
        try await later.write([1], to: "\(higher)", of: .claims)
        #expect(await #expect(throws: BackupError.self) { try await watch.ask() }?.code == .replaced)
        #expect(!watch.mayGrant && watch.replacement != nil)
        await store.close()
    }

    @Test func blobsStayUntilABackupShowsTheEndOfTheirJob() {
        var releases = BlobReleases()
        releases.add(JobID(1))
        #expect(releases.start { _ in false } == [JobID(1)], "without backups at once")
        releases.end(JobID(1))
        (releases.isCovering, releases.ticket) = (false, 1)
        releases.add(JobID(2))
        releases.ticket = 2
        releases.add(JobID(3))
        #expect(releases.isWaiting && releases.start { _ in false } == [])
        releases.covered = 1
        #expect(releases.start { _ in false } == [JobID(2)])
        releases.postpone(JobID(2), [])
        #expect(releases.start { _ in false } == [JobID(2)], "its end is in a backup")
        #expect(releases.isWaiting)
        releases.covered = 2
        #expect(!releases.isWaiting && releases.start { _ in false } == [JobID(3)])
    }

    @Test func anExistingStateIsReplacedOnlyByForce() async throws {
        let store = try StateStore(folder: first.data)
        let backups = StateBackups(BackupOptions(place, every: .seconds(60)), store: store, data: first.data)
        let left = first.data.appending(path: ".state-copy-0123")
        try Data([1]).write(to: left)
        try await backups.makeBackup(pages: 8)
        try await backups.makeBackup(pages: 8)
        #expect(try await BackupReader(place).names().count == 1, "nothing has changed")
        #expect(!FileManager.default.fileExists(atPath: left.path))
        let epoch = store.epoch
        await store.close()
        let refusal = await #expect(throws: CoordinatorError.self) {
            try await StateFile.restore(from: place, into: first.data)
        }
        #expect(refusal?.code == .exists && refusal?.hint?.contains("--force") == true)
        let (_, former) = try await StateFile.restore(from: place, into: first.data, isForced: true)
        #expect(former.map { FileManager.default.fileExists(atPath: $0.path) } == true)
        // A log that is left without its database is set aside, too.
        let file = first.data.appending(path: "state.sqlite")
        try FileManager.default.removeItem(at: file)
        try Data(repeating: 7, count: 4_096).write(to: URL(filePath: file.path + "-wal"))
        let (_, aside) = try await StateFile.restore(from: place, into: first.data, isForced: true)
        #expect(aside.map { FileManager.default.fileExists(atPath: $0.path + "-wal") } == true)
        #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
        // The catalog beside it was copied from a run after an earlier restore.
        let catalog = first.data.appending(path: "catalog")
        try FileManager.default.createDirectory(at: catalog, withIntermediateDirectories: true)
        let claim = PlaceClaim(epoch: epoch + 9_000, run: 1, lineage: store.lineage)
        try Data("\(claim)\n".utf8).write(to: Catalog.lockFile(in: catalog))
        _ = try await StateFile.restore(from: place, into: first.data, isForced: true)
        let restored = try StateStore(folder: first.data)
        #expect(restored.epoch > epoch + 10_000)
        #expect(restored.lineage == store.lineage)
        await restored.close()
        let none = await #expect(throws: BackupError.self) {
            try await StateFile.restore(from: place, at: 1_000, into: second.data)
        }
        #expect(none?.code == .noBackup)
        #expect(!FileManager.default.fileExists(atPath: second.data.path), "nothing is left of a failed attempt")
    }

    /// `PACKHORSE_MEASURE=1 swift test --filter StateBackupTests`: the share of a core that backups each minute take.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["PACKHORSE_MEASURE"] != nil))
    func whatBackupsOfTenThousandOpenBatchesCost() async throws {
        let store = try StateStore(folder: first.data)
        let backups = StateBackups(BackupOptions(place, every: .seconds(60)), store: store, data: first.data)
        var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
        let submission = StateStoreTests.submission(batches: 20_000)
        func apply(_ effects: [Effect]) async throws {
            try await store.apply(effects.compactMap { if case .store(let write) = $0 { write } else { nil } }, wall: 5)
        }
        try await apply(scheduler.handle(.submit(submission), now: Tick(milliseconds: 0)))
        let job = try #require(scheduler.jobIDs.first)
        var batches = Array(scheduler.batches(of: job))
        for minute in 0..<12 {
            // A thousand batches end in each minute; each was leased before.
            for index in minute * 1_000..<(minute + 1) * 1_000 {
                for state in [BatchState.leased, .done] {
                    batches[index].state = state
                    batches[index].digest = Digest(of: Array("shard \(index)".utf8))
                    try await store.apply([.batch(job, index: BatchIndex(index), batches[index])], wall: Int64(minute))
                }
            }
            let start = clock()
            try await backups.makeBackup(pages: StateStore.backupPages)
            let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
            let size = try store.file.fileSize()
            print(
                "minute \(minute): \(seconds * 1_000) ms of CPU, \(seconds / 60 * 100) % of a core, state \(size) bytes"
            )
            #expect(minute == 0 || seconds < 0.6)
        }
        await store.close()
    }
}
