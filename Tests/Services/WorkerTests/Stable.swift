import Blobs
import Digests
import Files
import Foundation
import Logging
import ServiceLifecycle
import TestSupport
import Tiles
import Tilesets
import Wire
import ZeroMQ

@testable import Worker

/// A blob store in a scratch folder, and the other dependencies of a worker.
struct Stable {
    let folder: URL
    let store: FolderBlobStore

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("packhorse-worker-\(UUID())")
        store = try FolderBlobStore(folder, create: true)
    }

    func remove() {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("cannot remove \(folder.path): \(error)")
        }
    }

    func service(_ endpoint: String, _ change: (inout WorkerOptions) -> Void = { _ in }) -> WorkerService {
        var options = WorkerOptions(
            connect: [endpoint], security: .plain, blobs: folder, slots: 2, name: "mule", build: "packhorse test")
        change(&options)
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        return WorkerService(options, logger: logger)
    }

    /// The world's first three zooms, 21 tiles.
    func offer(_ token: UInt64, _ url: String) throws -> PBOffer {
        let file = folder.appendingPathComponent("tileset.json")
        try Data(#"{"id":"test","url":"\#(url)/{z}/{x}/{y}.png","format":"png","zoom":"0-2"}"#.utf8).write(to: file)
        let tileset = try TilesetFile.read(file).resolved().canonicalJSON
        let mask = TileMask(full: 2)
        return .make {
            $0.token = token
            $0.job = 1
            $0.leaseMs = 60_000
            $0.attempt = 1
            $0.fetch = .make {
                $0.cell = PBTile(.root)
                $0.zoomMin = 0
                $0.zoomMax = 2
                $0.mask = Data(mask.encoded())
                $0.tiles = 21
                $0.tileset = Data(tileset)
            }
        }
    }

    /// The offer of a merge of shards of a fetch, its manifest in the store.
    func merge(
        _ shards: [Data], of fetch: PBFetchWork, _ change: (inout PBMergeManifest) -> Void = { _ in }
    ) throws -> PBOffer {
        let manifest = PBMergeManifest.make {
            $0.packageFormat = 1
            $0.packageID = "world"
            $0.mask = fetch.mask
            $0.zoomMax = 2
            $0.tileset = fetch.tileset
            $0.names = ["en": "World"]
            $0.shards = shards
            change(&$0)
        }
        let bytes = try manifest.encoded()
        let digest = Digest(of: bytes)
        let temporary = try store.temporaryURL()
        try Data(bytes).write(to: temporary)
        try store.putBlocking(temporary, digest: digest)
        return .make {
            $0.token = 99
            $0.merge = .make { ($0.manifest, $0.packageID) = (Data(digest.bytes), "world") }
        }
    }

    /// The same pixel for each tile; one tile is not there.
    static func origin() throws -> ScriptedServer {
        try ScriptedServer { request in
            request.path == "/2/3/3.png"
                ? .reply(404) : .reply(200, headers: [("Content-Type", "image/png")], body: png)
        }
    }

    /// One grey pixel, made with Python's zlib.
    static let png: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52,
        0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B,
        0x55, 0x00, 0x00, 0x00, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0xA8, 0x07, 0x00, 0x00,
        0x81, 0x00, 0x80, 0x7E, 0x1C, 0x29, 0xC7, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE,
        0x42, 0x60, 0x82,
    ]
}

/// A service group whose shutdown is asked for by a test instead of a signal.
actor Trigger {
    private var group: ServiceGroup?
    private var waiters: [CheckedContinuation<Void, Never>] = []

    nonisolated func run(_ service: WorkerService) async throws {
        let group = ServiceGroup(
            services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        await began(group)
        try await group.run()
    }

    func shutDown() async {
        if group == nil { await withCheckedContinuation { waiters.append($0) } }
        await group?.triggerGracefulShutdown()
    }

    private func began(_ group: ServiceGroup) {
        self.group = group
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
