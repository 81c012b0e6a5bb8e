import Blobs
import Digests
import Errors
import Files
import Foundation
import PackageFiles
import Synchronization
import TestSupport
import Testing
import Tiles
import Wire

@testable import Worker

/// The work of leases, without a coordinator.
@Suite(.timeLimit(.minutes(15)))
struct LeaseRunnerTests {
    @Test func aMergedPackageDoesNotDependOnHowItsTilesWereBatched() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        let runner = LeaseRunner(store: stable.store, environment: [:])
        let whole = try stable.offer(1, origin.url)
        var top = whole
        (top.fetch.zoomMax, top.fetch.tiles) = (1, 5)
        var bottom = whole
        (bottom.fetch.zoomMin, bottom.fetch.tiles) = (2, 16)
        var packages: Set<Data> = []
        for offers in [[whole], [top, bottom], [bottom, top]] {
            var shards: [Data] = []
            for offer in offers { shards.append(try await commit(runner, offer).fetch.shard) }
            let meter = WorkMeter()
            let merged = try await commit(runner, try stable.merge(shards, of: whole.fetch), meter).merge
            #expect(merged.tiles == 20)
            #expect(meter.counters.done > 0, "A merge reports that it moves.")
            packages.insert(merged.package)
        }
        #expect(packages.count == 1)
        let digest = try #require(packages.first.flatMap { Digest(bytes: $0) })
        #expect(try stable.store.url(of: digest) != nil)
    }

    @Test func aLostShardIsNamedSoThatItIsFetchedAgain() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let runner = LeaseRunner(store: stable.store, environment: [:])
        let offer = try stable.merge([Rig.digest], of: try stable.offer(1, "http://127.0.0.1:9").fetch)
        let failure = try await failure(runner, offer)
        #expect(failure.cause.rawValue == "shard-missing")
        #expect(failure.lostShards == [try #require(Digest(bytes: Rig.digest))])
        #expect(failure.retriable)
    }

    @Test func aDamagedShardIsNamedSoThatItIsFetchedAgain() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        let runner = LeaseRunner(store: stable.store, environment: [:])
        let fetch = try stable.offer(1, origin.url)
        let shard = try await commit(runner, fetch).fetch.shard
        let digest = try #require(Digest(bytes: shard))
        let file = try #require(try stable.store.url(of: digest))
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        let failure = try await failure(runner, try stable.merge([shard], of: fetch.fetch))
        #expect(failure.cause.rawValue == "shard-corrupt")
        #expect(failure.lostShards == [digest])
    }

    @Test func aFullDiskLosesNothingAndLeavesNoFile() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        let full = FullStore(inner: stable.store)
        let runner = LeaseRunner(store: full, environment: [:])
        let offer = try stable.offer(1, origin.url)
        let failure = try await failure(runner, offer)
        #expect((failure.cause.rawValue, failure.retriable, failure.isLocal) == ("disk-full", true, true))
        #expect(try FileManager.default.contentsOfDirectory(atPath: stable.folder.path + "/tmp").isEmpty)
        full.isFull.withLock { $0 = false }
        #expect(try await commit(runner, offer).fetch.stored == 20)
    }

    @Test(arguments: [(POSIXError.Code.ENOSPC, "disk-full"), (.EDQUOT, "disk-full"), (.EIO, "io-error")])
    func whatTheFileSystemSaysIsOfThisMachine(_ code: POSIXError.Code, _ cause: String) {
        let error = CocoaError(.fileReadUnknown, userInfo: [NSUnderlyingErrorKey: POSIXError(code)])
        for failure in [LeaseRunner.failure(error), LeaseRunner.failure(POSIXError(code))] {
            #expect(failure.cause.rawValue == cause && failure.retriable && failure.isLocal)
        }
        #expect(LeaseRunner.failure(CocoaError(.coderInvalidValue)).cause == .internal)
    }

    @Test func aPackageThatIsTooLargeIsNotATileThatIsTooLarge() {
        let failure = LeaseRunner.failure(PackagesError(.tooLarge, "The package has too many bodies."))
        #expect(failure.cause.rawValue == "package-too-large" && !failure.retriable)
        #expect(failure.cause.fault == .job && !failure.cause.isRetriable)
        #expect(failure.detail == "The package has too many bodies.")
    }

    @Test func noErrorOfAMergeBlamesATileOrIsUnknown() {
        let merges = PackagesError.Code.allCases.map { LeaseRunner.failure(PackagesError($0, "any")) }
        let stores = StorageErrorCode.allCases.map { LeaseRunner.failure(StorageError($0, "any")) }
        for failure in merges + stores { #expect(failure.cause.fault != .tile && failure.cause != .unknown) }
    }

    @Test func cancelledWorkLeavesNoFile() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try ScriptedServer { request in
            request.path == "/0/0/0.png"
                ? .reply(200, headers: [("Content-Type", "image/png")], body: Stable.png) : .silence
        }
        defer { origin.stop() }
        let runner = LeaseRunner(store: stable.store, environment: [:])
        let offer = try stable.offer(1, origin.url)
        let work = Task { await runner.run(offer, WorkMeter()) }
        while origin.requests.count < 2 { try await Task.sleep(for: .milliseconds(2)) }
        work.cancel()
        guard case .cancelled = await work.value else {
            Issue.record("Cancelled work must say so.")
            return
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: stable.folder.path + "/tmp").isEmpty)
    }

    @Test func oneOriginServesAllBatchesOfATileset() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        let runner = LeaseRunner(store: stable.store, environment: [:])
        for token in 1...5 as ClosedRange<UInt64> { _ = try await commit(runner, try stable.offer(token, origin.url)) }
        #expect(origin.requests.count == 105)
        #expect(origin.connections <= 32, "Connections are kept across batches: \(origin.connections)")
    }

    private func commit(_ runner: LeaseRunner, _ offer: PBOffer, _ meter: WorkMeter = WorkMeter()) async throws
        -> PBCommit
    {
        switch await runner.run(offer, meter) {
        case .done(let commit): return commit
        case .failed(let failure): throw failure
        case .cancelled: throw CancellationError()
        }
    }

    private func failure(_ runner: LeaseRunner, _ offer: PBOffer) async throws -> WorkFailure {
        guard case .failed(let failure) = await runner.run(offer, WorkMeter()) else {
            throw WorkFailure(cause: .unknown, detail: "The work did not fail.", retriable: false)
        }
        return failure
    }
}

/// A store whose disk is full when blobs are to be kept.
private final class FullStore: BlobStore {
    let inner: FolderBlobStore
    let isFull = Mutex(true)
    var id: String { inner.id }

    init(inner: FolderBlobStore) { self.inner = inner }

    func temporaryURL() throws(StorageError) -> URL { try inner.temporaryURL() }
    func put(_ temporary: URL, digest: Digest) async throws {
        if isFull.withLock({ $0 }) { throw StorageError.system(ENOSPC, action: "rename", path: temporary.path) }
        try await inner.put(temporary, digest: digest)
    }
    func local(_ digest: Digest) async throws -> LocalBlob? { try await inner.local(digest) }
    func size(of digest: Digest) async throws -> UInt64? { try await inner.size(of: digest) }
}
