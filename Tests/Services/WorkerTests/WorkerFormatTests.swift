import Blobs
import Digests
import Errors
import Files
import Foundation
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Worker

/// A merge that writes its package in other formats too.
struct WorkerFormatTests {
    private static let formats = ["carto", "mbtiles-flat", "mbtiles-normalized", "pmtiles"]

    /// A fetched shard and the offer of a merge over it.
    private func offer(_ stable: Stable, _ formats: [String], _ origin: ScriptedServer, style: String = "") async throws
        -> PBOffer
    {
        let runner = LeaseRunner(store: stable.store, environment: [:])
        let fetch = try stable.offer(1, origin.url)
        guard case .done(let commit) = await runner.run(fetch, WorkMeter()) else { throw CancellationError() }
        return try stable.merge([commit.fetch.shard], of: fetch.fetch) {
            $0.names = ["en": "Planet/World", "de": "Planet/Welt"]
            $0.formats = formats
            $0.style = style
            // The scripted origin has no tile 0/0/0.
            $0.allowedMissing = 1
        }
    }

    private func temporaries(_ stable: Stable) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: stable.folder.path + "/tmp")
    }

    @Test func oneMergeWritesEveryFormatAndTheSameBytesAgain() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        let offer = try await offer(stable, Self.formats, origin)
        let runner = LeaseRunner(store: stable.store, environment: [:])
        guard case .done(let first) = await runner.run(offer, WorkMeter()) else {
            Issue.record("the merge failed")
            return
        }
        #expect(first.merge.files.map(\.format) == Self.formats)
        for file in first.merge.files {
            let digest = try #require(Digest(bytes: file.sha256))
            let url = try #require(try stable.store.url(of: digest))
            #expect(try Data(contentsOf: url).count == Int(file.size))
            #expect(try Digest.ofFile(url).digest == digest)
        }
        #expect(Set(first.merge.files.map(\.sha256)).count == 4)
        guard case .done(let second) = await runner.run(offer, WorkMeter()) else {
            Issue.record("the second merge failed")
            return
        }
        #expect(second == first)
        #expect(try temporaries(stable).isEmpty)
    }

    /// PMTiles alone is the file that is written beside MBTiles, and no other file becomes a blob.
    @Test func pmtilesAloneIsTheSameFileWithoutMBTiles() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        let runner = LeaseRunner(store: stable.store, environment: [:])
        let fetch = try stable.offer(1, origin.url)
        guard case .done(let fetched) = await runner.run(fetch, WorkMeter()) else { throw CancellationError() }
        func merged(withoutMBTiles: Bool) async throws -> PBMergeResult {
            let offer = try stable.merge([fetched.fetch.shard], of: fetch.fetch) {
                $0.formats = ["pmtiles"]
                $0.allowedMissing = 1
                $0.withoutMbtiles = withoutMBTiles
            }
            guard case .done(let commit) = await runner.run(offer, WorkMeter()) else { throw CancellationError() }
            return commit.merge
        }
        let alone = try await merged(withoutMBTiles: true)
        #expect(alone.files.map(\.sha256) == [alone.package] && alone.files.map(\.format) == ["pmtiles"])
        #expect(alone.files.map(\.size) == [alone.size])
        let digest = try #require(Digest(bytes: alone.package))
        let file = try Data(contentsOf: try #require(try stable.store.url(of: digest)))
        #expect(file.starts(with: Data("PMTiles".utf8)) && file.count == Int(alone.size))
        #expect(try temporaries(stable).isEmpty)
        let both = try await merged(withoutMBTiles: false)
        #expect(both.files == alone.files && both.package != alone.package)
        #expect(both.tiles == alone.tiles && both.tilesHash == alone.tilesHash)
    }

    @Test func aFormatThisBuildDoesNotKnowIsForAnotherWorker() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        let offer = try await offer(stable, ["pmtiles", "shapefile"], origin)
        guard
            case .failed(let failure) = await LeaseRunner(store: stable.store, environment: [:]).run(offer, WorkMeter())
        else {
            Issue.record("it wrote a shapefile")
            return
        }
        #expect(failure.cause.rawValue == "unsupported" && failure.retriable)
        #expect(try temporaries(stable).isEmpty)
    }

    @Test func aStyleThatCannotBeHadIsTriedAgainAndOneThatIsRefusedOrNoneIsNot() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        let styles = try ScriptedServer { request in
            switch request.path {
            case "/none.json": .reply(200, headers: [], body: Array("[]".utf8))
            case "/bare.json":
                .reply(
                    200, headers: [],
                    body: Array(#"{"version":8,"sprite":"gone","sources":{},"layers":[]}"#.utf8))
            case "/early.json": .reply(425, headers: [], body: [])
            default: .reply(404, headers: [], body: [])
            }
        }
        defer { styles.stop() }
        for (name, cause, retriable) in [
            ("gone", "bad-style", false), ("none", "bad-style", false), ("bare", "bad-style", false),
            ("early", "style-unavailable", true),
        ] {
            let offer = try await offer(stable, ["maplibre"], origin, style: "\(styles.url)/\(name).json")
            let runner = LeaseRunner(store: stable.store, environment: [:], scratch: stable.folder.appending(path: "s"))
            guard case .failed(let failure) = await runner.run(offer, WorkMeter()) else {
                Issue.record("it wrote a database without a style")
                continue
            }
            #expect(failure.cause.rawValue == cause && failure.retriable == retriable, "\(failure)")
        }
        #expect(try temporaries(stable).isEmpty)
    }

    @Test func anExportThatIsCancelledLeavesNoFile() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try Stable.origin()
        defer { origin.stop() }
        let offer = try await offer(stable, Self.formats, origin)
        let meter = WorkMeter()
        let store = CancellingStore(stable.store, meter)
        guard case .cancelled = await LeaseRunner(store: store, environment: [:]).run(offer, meter) else {
            Issue.record("a cancelled export went on")
            return
        }
        #expect(store.asked.withLock { $0 } == 3, "the package and two formats")
        #expect(try temporaries(stable).isEmpty)
    }
}

/// A store that has the work cancelled when its second format begins.
private final class CancellingStore: BlobStore {
    let inner: FolderBlobStore
    let meter: WorkMeter
    let asked = Mutex(0)
    var id: String { inner.id }

    init(_ inner: FolderBlobStore, _ meter: WorkMeter) {
        self.inner = inner
        self.meter = meter
    }

    func temporaryURL() throws(StorageError) -> URL {
        let count = asked.withLock {
            $0 += 1
            return $0
        }
        if count == 3 { meter.cancel() }
        return try inner.temporaryURL()
    }
    func put(_ temporary: URL, digest: Digest) async throws { try await inner.put(temporary, digest: digest) }
    func local(_ digest: Digest) async throws -> LocalBlob? { try await inner.local(digest) }
    func size(of digest: Digest) async throws -> UInt64? { try await inner.size(of: digest) }
}
