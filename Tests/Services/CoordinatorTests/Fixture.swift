import Blobs
import Errors
import Foundation
import Logging
import Scheduling
import Synchronization
import Testing
import Tiles
import Wire
import ZeroMQ

@testable import Coordinator

/// Three folders of one test, removed with it, and coordinators that run over them.
final class Fixture: Sendable {
    let folder: URL
    let options: CoordinatorOptions

    init(_ change: (inout CoordinatorOptions) -> Void = { _ in }) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("coordinator-\(UUID().uuidString)")
        var options = CoordinatorOptions(
            data: folder.appendingPathComponent("data"), blobs: folder.appendingPathComponent("blobs"),
            catalog: folder.appendingPathComponent("catalog"))
        options.controlBind = "tcp://127.0.0.1:*"
        options.workBind = "tcp://127.0.0.1:*"
        options.heartbeatSeconds = 5
        // Fake workers are silent for as long as a busy machine makes them; who needs the end of a lease says so.
        options.leaseSeconds = 60
        options.restartGraceSeconds = 3
        // What a job leaves goes at its end, unless a test is about baselines.
        options.keptTileBytes = 0
        change(&options)
        self.options = options
    }

    deinit {
        do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") }
    }

    /// Runs a coordinator while `body` runs, then stops it and waits until it has let go of its folders.
    ///
    /// - Parameter options: Other options than those of the fixture, over the same folders.
    func withCoordinator<Value: Sendable>(
        _ options: CoordinatorOptions? = nil, _ body: @Sendable (CoordinatorService) async throws -> Value
    ) async throws -> Value {
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        if ProcessInfo.processInfo.environment["PACKHORSE_TEST_LOG"] != nil {
            logger = Logger(label: "test") { StreamLogHandler.standardError(label: $0) }
        }
        logger.logLevel = .trace
        let service = try CoordinatorService(options ?? self.options, logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            defer { group.cancelAll() }
            return try await body(service)
        }
    }

    func blobs() throws -> FolderBlobStore { try FolderBlobStore(options.blobs, create: false) }

    /// A job over a z10 cell and what lies below it to z12: 21 tiles.
    static func submission(
        request: String = "", kind: String = "region", id: String = "P0", zooms: ClosedRange<UInt32> = 10...12,
        side: Int = 1
    ) throws -> PBSubmit {
        var tiles: [TileID] = []
        for x in 0..<side { for y in 0..<side { tiles.append(try #require(TileID(zoom: 10, x: 500 + x, y: 300 + y))) } }
        let mask = TileMask(tiles: tiles, maxZoom: 10).expanded(toZoom: Int(zooms.upperBound))
        return PBSubmit.make {
            $0.requestID = request
            $0.kind = kind
            $0.label = "a test"
            $0.tileset = Data(#"{"id":"demo"}"#.utf8)
            $0.zoomMin = zooms.lowerBound
            $0.zoomMax = zooms.upperBound
            $0.allowedMissing = 0.001
            $0.packages = [
                .make {
                    $0.id = id
                    $0.mask = Data(mask.encoded())
                    $0.names = ["en": "Test/\(id)"]
                }
            ]
        }
    }
}

/// One end of a conversation with the coordinator.
final class Talker: Sendable {
    let link: DealerLink
    let session: UInt64
    private let counter = Sequence()

    private let minor: UInt8

    init(
        _ endpoint: String, session: UInt64 = .random(in: 1...UInt64.max), security: LinkSecurity = .plain,
        minor: UInt8 = WireVersion.minors.upperBound
    ) throws {
        var options = LinkOptions()
        options.maxFrameBytes = [MessageType.maxControlFrame]
        link = try DealerLink(connect: endpoint, security: security, options: options)
        self.session = session
        self.minor = minor
    }

    @discardableResult
    func say(_ message: Message) async throws -> UInt64 {
        let seq = counter.next()
        try await link.send([try Frame(session: session, seq: seq, minor: minor, message).encoded()])
        return seq
    }

    /// Says something and waits for its answer.
    func ask(_ message: Message, within limit: Duration = .seconds(60)) async throws -> Message {
        let seq = try await say(message)
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            for bytes in try await link.receive(upTo: .milliseconds(500)) {
                let frame = try Frame(decoding: bytes)
                if frame.re == seq { return frame.message }
            }
        }
        throw Silence()
    }

    struct Silence: Error {}
}

/// Numbers frames.
final class Sequence: Sendable {
    private let value = Mutex<UInt64>(0)

    func next() -> UInt64 {
        value.withLock { value in
            value += 1
            return value
        }
    }
}

/// Set once, read from anywhere.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
