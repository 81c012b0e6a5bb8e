import Blobs
import Digests
import Files
import Foundation
import Logging
import TestSupport
import Testing
import Tiles
import ZeroMQ

@testable import Coordinator
@testable import Worker

/// Both ends of the blob link together.
@Suite(.timeLimit(.minutes(15)))
struct BlobStreamTests {
    @Test(arguments: 0..<60)
    func everyTransferEndsRightUnderLossDoublingReorderingCutsAndCrashes(seed: Int) {
        var simulation = BlobSimulation(seed: UInt64(seed))
        let fault = simulation.run()
        #expect(fault == nil, "seed \(seed): \(fault ?? "")")
    }

    @Test func theSimulationIsDeterministic() {
        func trace() -> (Int64, UInt64, Int) {
            var simulation = BlobSimulation(seed: 7)
            _ = simulation.run()
            return (simulation.now, simulation.sent, simulation.order)
        }
        #expect(trace() == trace())
    }

    /// A server and a client over loopback, encrypted; the client's files lie in a folder of its own.
    private func withEnds(_ body: (FolderBlobStore, StreamedBlobStore, URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("blob-stream-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let store = try FolderBlobStore(folder.appendingPathComponent("blobs"), create: true)
        let (serverKey, workerKey) = (try KeyPair.generate(), try KeyPair.generate())
        let router = try BlobServer.bind(
            "tcp://127.0.0.1:*", security: .curveServer(serverKey, AllowList(["mule": workerKey.publicKey])),
            options: LinkOptions())
        let server = BlobServer(store, router: router, logger: logger)
        let client = BlobClient(
            .curveClient(workerKey, serverKey: serverKey.publicKey), allowPlain: false, logger)
        let streamed = try StreamedBlobStore(
            scratch: folder.appendingPathComponent("scratch"), limit: 1 << 30, client: client)
        await client.connect(to: server.endpoint)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask { await client.run() }
            defer { group.cancelAll() }
            try await body(store, streamed, folder)
        }
    }

    @Test func blobsGoThereAndComeBack() async throws {
        try await withEnds { store, streamed, folder in
            // Larger than every window, and no multiple of a chunk.
            var random = SplitMix(state: 1)
            var bytes = Data(capacity: 24 << 20)
            while bytes.count < 24 << 20 { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
            bytes.append(7)
            let digest = Digest(of: bytes)
            #expect(try await streamed.local(digest) == nil)
            #expect(try await streamed.size(of: digest) == nil)
            let file = try streamed.temporaryURL()
            try bytes.write(to: file)
            let begun = ContinuousClock.now
            try await streamed.put(file, digest: digest)
            let sent = ContinuousClock.now
            #expect(!FileManager.default.fileExists(atPath: file.path))
            #expect(try store.length(of: digest) == UInt64(bytes.count))
            #expect(try await streamed.size(of: digest) == UInt64(bytes.count))
            // A worker that made the same bytes learns that they are there.
            let again = try streamed.temporaryURL()
            try bytes.write(to: again)
            try await streamed.put(again, digest: digest)

            let other = try StreamedBlobStore(
                scratch: folder.appendingPathComponent("scratch"), limit: 1 << 30, client: streamed.client)
            let fetching = ContinuousClock.now
            let blob = try #require(try await other.local(digest))
            let fetched = ContinuousClock.now
            #expect(try Data(contentsOf: blob.url) == bytes)
            if ProcessInfo.processInfo.environment["PACKHORSE_TEST_LOG"] != nil {
                print("24 MiB with CURVE: sent in \(sent - begun), fetched in \(fetched - fetching)")
            }
        }
    }

    @Test func manyBlobsAtOnceShareTheLink() async throws {
        try await withEnds { store, streamed, _ in
            try await withThrowingTaskGroup(of: Digest.self) { group in
                for number in 0..<24 as Range<UInt8> {
                    group.addTask {
                        let bytes = Data(repeating: number, count: 700_000 + Int(number))
                        let file = try streamed.temporaryURL()
                        try bytes.write(to: file)
                        let digest = Digest(of: bytes)
                        try await streamed.put(file, digest: digest)
                        return digest
                    }
                }
                for try await digest in group { #expect(try store.length(of: digest) != nil) }
            }
        }
    }

    @Test func aCancelledTransferEndsAtOnce() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("blob-stream-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        // No server listens there: the transfer would wait forever.
        let client = BlobClient(.plain, allowPlain: false, logger)
        let streamed = try StreamedBlobStore(scratch: folder, limit: 1 << 20, client: client)
        let digest = Digest(of: [1, 2, 3])
        let task = Task { try await streamed.local(digest) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
