import Blobs
import Digests
import Errors
import Files
import Foundation
import Testing
import Tilesets
import Wire

@testable import Worker

/// A batch is made from one version of its archive, and from the job's.
struct ArchiveVersionTests {
    /// The world's first three zooms from a PMTiles file without tiles.
    private func offer(_ stable: Stable, _ edit: (inout PBFetchWork) -> Void = { _ in }) throws -> PBOffer {
        let file = stable.folder.appendingPathComponent("a.pmtiles")
        if !FileManager.default.fileExists(atPath: file.path) { try Data(OriginCacheTests.archive).write(to: file) }
        var offer = try stable.offer(1, "http://127.0.0.1:9")
        offer.fetch.tileset = Data(
            try TilesetFile(
                text: "{id: test, url: 'pmtiles:a.pmtiles', format: png, zoom: 0-2}", name: "a.yaml",
                folder: stable.folder
            ).resolved().canonicalJSON)
        edit(&offer.fetch)
        return offer
    }

    private func replace(_ stable: Stable) throws {
        let other = stable.folder.appendingPathComponent("other")
        try Data(OriginCacheTests.archive + [0]).write(to: other)
        try #require(rename(other.path, stable.folder.appendingPathComponent("a.pmtiles").path) == 0)
    }

    private func run(_ runner: LeaseRunner, _ offer: PBOffer) async throws -> Result<PBFetchResult, WorkFailure> {
        switch await runner.run(offer, WorkMeter()) {
        case .done(let commit): return .success(commit.fetch)
        case .failed(let failure): return .failure(failure)
        case .cancelled: throw CancellationError()
        }
    }

    @Test func theVersionIsToldWithTheResultAndComparedWithTheJobs() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let runner = LeaseRunner(store: stable.store, environment: [:])
        let first = try await run(runner, try offer(stable)).get()
        #expect(first.empty == 21 && first.sourceVersion.hasPrefix("\(OriginCacheTests.archive.count) bytes of 2"))
        let again = try await run(runner, try offer(stable) { $0.sourceVersion = first.sourceVersion }).get()
        #expect(again.sourceVersion == first.sourceVersion)
        try replace(stable)
        let refused = try await run(runner, try offer(stable) { $0.sourceVersion = first.sourceVersion })
        guard case .failure(let failure) = refused else { throw CancellationError() }
        #expect(failure.cause.rawValue == "source-changed" && !failure.retriable)
        let new = try await run(runner, try offer(stable)).get()
        #expect(new.sourceVersion != first.sourceVersion && failure.detail == new.sourceVersion)
    }

    @Test func shardsOfAnotherVersionAreNotUsed() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let runner = LeaseRunner(store: stable.store, environment: [:])
        let first = try await run(runner, try offer(stable)).get()
        for (version, reused) in [("", 21), (first.sourceVersion, 21), ("another", 0)] as [(String, UInt64)] {
            let offer = try offer(stable) {
                $0.sources = [first.shard]
                $0.sourcesVersion = version
            }
            #expect(try await run(runner, offer).get().reused == reused, "'\(version)'")
        }
    }

    @Test func anArchiveThatIsReplacedWhileABatchReadsItIsReadAgain() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let offer = try offer(stable) { $0.sources = [Rig.digest] }
        let store = DisturbedStore(inner: stable.store) { try replace(stable) }
        let result = try await run(LeaseRunner(store: store, environment: [:]), offer)
        guard case .failure(let failure) = result else { throw CancellationError() }
        #expect(
            failure.cause.rawValue == "origin-busy" && failure.retriable
                && failure.detail.contains("changed while it was read"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: stable.folder.path + "/tmp").isEmpty)
    }
}

/// A store during whose first answer something happens: after a batch has opened its archive, and before it reads it.
private struct DisturbedStore: BlobStore {
    let inner: FolderBlobStore
    let disturb: @Sendable () throws -> Void
    var id: String { inner.id }

    func temporaryURL() throws(StorageError) -> URL { try inner.temporaryURL() }
    func put(_ temporary: URL, digest: Digest) async throws { try await inner.put(temporary, digest: digest) }
    func local(_ digest: Digest) async throws -> LocalBlob? {
        try disturb()
        return nil
    }
    func size(of digest: Digest) async throws -> UInt64? { try await inner.size(of: digest) }
}
