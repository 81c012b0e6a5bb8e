import Blobs
import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import Logging
import Scheduling
import Synchronization
import Testing
import Wire

@testable import Coordinator

/// Merged packages that wait at the same time.
struct PublishQueueTests {
    let fixture: Fixture
    let blobs: FolderBlobStore
    let catalog: Catalog
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws {
        fixture = try Fixture()
        blobs = try FolderBlobStore(fixture.options.blobs, create: true)
        catalog = try Catalog(fixture.options.catalog, create: true)
    }

    /// A package whose file holds `text`, as a blob unless it is to be missing.
    private func waiting(_ number: Int, _ text: String, isMissing: Bool = false) async throws -> PublishQueue.Waiting {
        let bytes = Array(text.utf8)
        let digest = Digest(of: bytes)
        if !isMissing {
            let temporary = try blobs.temporaryURL()
            try Data(bytes).write(to: temporary)
            try await blobs.put(temporary, digest: digest)
        }
        let merged = MergedPackage(
            digest: try #require(Digest(bytes: digest.bytes)), size: UInt64(bytes.count), tiles: 21,
            tilesHash: "D41D8CD98F00B204E9800998ECF8427E")
        let spec = try JobSpec(try Fixture.submission(id: "P\(number)"))
        return PublishQueue.Waiting(job: 7, package: 0, merged: merged, spec: spec, failedTiles: 0)
    }

    @Test func whatWaitsIsPublishedTogetherAndFailsAlone() async throws {
        let queue = PublishQueue()
        for number in 0..<(PublishQueue.most + 2) {
            queue.add(try await waiting(number, "package \(number)", isMissing: number == 3))
        }
        let writer = CatalogFolderWriter(catalog: catalog)
        let first = await queue.publish(blobs, catalogs: CatalogTable(main: writer), logger: logger).events
        #expect(first.count == PublishQueue.most)
        let failed = first.filter { if case .packageTrouble = $0 { true } else { false } }
        guard case .packageTrouble(_, _, let trouble, let mayHeal)? = failed.first, failed.count == 1 else {
            Issue.record("\(failed)")
            return
        }
        #expect(trouble.cause == "blob-missing" && !mayHeal)
        #expect(try catalog.packages().count == PublishQueue.most - 1)
        #expect(await queue.publish(blobs, catalogs: CatalogTable(main: writer), logger: logger).events.count == 2)
        #expect(
            await queue.publish(blobs, catalogs: CatalogTable(main: writer), logger: logger).events.isEmpty,
            "others took them along")
        let entries = try catalog.packages()
        #expect(entries.count == PublishQueue.most + 1 && entries.allSatisfy { $0.version == 1 })
        #expect(try catalog.verify().isVerified)
    }

    @Test func oneThatTheCatalogRefusesLeavesTheOthers() async throws {
        let queue = PublishQueue()
        let good = try await waiting(1, "good")
        let wrong = try await waiting(2, "wrong")
        // Announced with another length than it has.
        let merged = MergedPackage(
            digest: wrong.merged.digest, size: 99, tiles: 21, tilesHash: wrong.merged.tilesHash)
        queue.add(PublishQueue.Waiting(job: 7, package: 0, merged: merged, spec: wrong.spec, failedTiles: 0))
        queue.add(good)
        let events = await queue.publish(
            blobs, catalogs: CatalogTable(main: CatalogFolderWriter(catalog: catalog)), logger: logger
        )
        .events
        guard case .packageTrouble(_, _, let trouble, false) = events[0],
            case .published(7, 0, 1, let path, false) = events[1]
        else {
            Issue.record("\(events)")
            return
        }
        #expect(trouble.cause == "blob-missing" && path == "packages/1/P1.mbtiles")
        #expect(try catalog.packages().map(\.id) == ["P1"])
    }

    @Test func aJobWhosePackageGetsPatchesWaitsForThemAndHoldsUpNobody() async throws {
        let queue = PublishQueue()
        let made = Mutex(0)
        let writer = CatalogFolderWriter(
            catalog: catalog,
            patchMaker: { _, _ in
                made.withLock { $0 += 1 }
                return nil
            })
        queue.add(try await waiting(1, "first version"))
        #expect(
            await queue.publish(blobs, catalogs: CatalogTable(main: writer), logger: logger).events.count == 1,
            "there is nothing to patch")
        queue.add(try await waiting(1, "second version"))
        queue.add(try await waiting(2, "another package"))
        let round = await queue.publish(blobs, catalogs: CatalogTable(main: writer), logger: logger)
        #expect(round.events.count == 1 && round.patching.map(\.request.id) == ["P1"])
        guard case .published(7, 0, 2, "packages/2/P1.mbtiles", false)? = round.patching.first?.event else {
            Issue.record("\(round.patching)")
            return
        }
        #expect(
            try catalog.packages().map(\.version) == [2, 1] && made.withLock { $0 } == 0, "both are listed already")
        writer.makePatches(round.patching.map(\.request))
        #expect(made.withLock { $0 } == 1)
        // After a crash in between, the package is published again, and finished patches are not made again.
        queue.add(try await waiting(1, "second version"))
        let again = await queue.publish(blobs, catalogs: CatalogTable(main: writer), logger: logger)
        #expect(again.events.count == 1 && again.patching.isEmpty)
    }

    /// After a slow write of the lists the next one is 750 ms away; what makes it earlier wakes those who wait.
    ///
    /// On a machine under load one wake-up can take as long as the wait: the fastest of a hundred counts.
    @Test(.timeLimit(.minutes(15)), arguments: [true, false])
    func whatMakesThePublicationEarlierEndsTheWait(isClosed: Bool) async throws {
        let slow = SlowLists(real: CatalogFolderWriter(catalog: catalog), cost: .milliseconds(250))
        let first = try await waiting(1, "first")
        var fastest = Duration.seconds(60)
        for _ in 0..<100 where fastest > .milliseconds(500) {
            let queue = PublishQueue()
            queue.add(first)
            _ = await queue.publish(blobs, catalogs: CatalogTable(main: slow), logger: logger)
            queue.add(first)
            let sleeper = Task { await queue.waitUntilDue() }
            // The sleeper begins to wait; when it begins later, it finds the publication due and ends at once.
            try await Task.sleep(for: .milliseconds(20))
            let start = ContinuousClock.now
            if isClosed { queue.close() } else { for _ in 1..<PublishQueue.most { queue.add(first) } }
            await sleeper.value
            fastest = min(fastest, ContinuousClock.now - start)
        }
        #expect(fastest < .milliseconds(500))
    }

    /// A stream of packages, each ready some milliseconds after the one before.
    ///
    /// When they are listed is in `PublishingPaceTests`.
    @Test func aStreamOfPackagesIsListedInFewerWritingsThanItHasPackages() async throws {
        let queue = PublishQueue()
        let writer = CatalogFolderWriter(catalog: catalog)
        let executor = BackgroundExecutor()
        let listed = Mutex(0)
        var all: [PublishQueue.Waiting] = []
        for number in 0..<60 { all.append(try await waiting(number, "package \(number)")) }
        // As if the disk were slow: lists that take 100 ms to write.
        let slow = SlowLists(real: writer, cost: .milliseconds(100))
        for one in all {
            queue.add(one)
            executor.run(on: .catalog) { [blobs, logger] in
                await queue.waitUntilDue()
                return .events(await queue.publish(blobs, catalogs: CatalogTable(main: slow), logger: logger).events)
            }
            executor.run(on: .checks) { [catalog] in
                let id = one.wanted.id
                while (try? catalog.packages().contains { $0.id == id }) != true {
                    try? await Task.sleep(for: .milliseconds(2))
                }
                listed.withLock { $0 += 1 }
                return nil
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        #expect(await executor.drain(within: .seconds(600)).isEmpty)
        while listed.withLock(\.self) < all.count { try await Task.sleep(for: .milliseconds(2)) }
        let writings = slow.writings.withLock { $0 }
        #expect(try catalog.packages().count == all.count)
        #expect((2..<all.count).contains(writings), "\(writings)")
        // At the end of the process nothing waits for others.
        queue.add(try await waiting(100, "last"))
        queue.close()
        await queue.waitUntilDue()
        _ = await queue.publish(blobs, catalogs: CatalogTable(main: slow), logger: logger)
        #expect(try catalog.packages().count == all.count + 1)
    }
}

/// A catalog on a slow disk.
private final class SlowLists: CatalogWriter {
    let real: CatalogFolderWriter
    let cost: Duration
    let writings = Mutex(0)

    init(real: CatalogFolderWriter, cost: Duration) {
        self.real = real
        self.cost = cost
    }

    var folder: URL { real.folder }
    var listCost: Duration? { cost }

    func publish(_ requests: [PublishRequest]) -> [Result<Published, any Error>] {
        if !requests.isEmpty {
            writings.withLock { $0 += 1 }
            usleep(UInt32(cost / .microseconds(1)))
        }
        return real.publish(requests)
    }

    func held(_ id: String, _ edition: CatalogEdition) throws -> [Digest: URL] { try real.held(id, edition) }
}
