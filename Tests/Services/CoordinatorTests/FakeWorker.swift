import Blobs
import Digests
import Files
import Foundation
import Scheduling
import Testing
import Tiles
import Wire
import ZeroMQ

/// A worker that speaks the wire over a real socket and makes up its bytes.
final class FakeWorker: Sendable {
    let talker: Talker
    let blobs: FolderBlobStore
    let name: String
    private let minor: UInt8
    private let exports: [String]

    init(
        _ endpoint: String, blobs: FolderBlobStore, name: String = "fake",
        session: UInt64 = .random(in: 1...UInt64.max), security: LinkSecurity = .plain,
        minor: UInt8 = WireVersion.minors.upperBound, exports: [String] = []
    ) throws {
        talker = try Talker(endpoint, session: session, security: security, minor: minor)
        self.minor = minor
        self.exports = exports
        self.blobs = blobs
        self.name = name
    }

    func hello(held: [UInt64] = []) -> Message {
        .hello(
            .make {
                $0.wireMinorMax = UInt32(minor)
                $0.name = name
                $0.canFetch = true
                $0.canMerge = true
                $0.blobStore = blobs.id
                $0.shardFormats = [1]
                $0.packageFormats = [1]
                $0.exports = exports
                $0.held = held.map { token in .make { $0.token = token } }
            })
    }

    /// The next messages, waiting at most ten seconds for the first.
    func receive(upTo limit: Duration = .seconds(10)) async throws -> [Message] {
        try await talker.link.receive(upTo: limit).map { try Frame(decoding: $0).message }
    }

    /// Waits for the next message that `pick` wants.
    func next<Value>(_ pick: (Message) -> Value?) async throws -> Value {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            for message in try await receive(upTo: .milliseconds(500)) {
                if let value = pick(message) { return value }
            }
        }
        throw Talker.Silence()
    }

    func nextOffer() async throws -> PBOffer {
        try await next { if case .offer(let offer) = $0 { offer } else { nil } }
    }

    /// Does the work of an offer: a blob made from the offer's content alone, so that any worker makes the same.
    func result(of offer: PBOffer) throws -> PBCommit {
        switch offer.work {
        case .fetch(let work):
            let mask = try TileMask(decoding: work.mask)
            let zooms = try #require(ZoomRange(min: Int(work.zoomMin), max: Int(work.zoomMax)))
            let cell = try #require(work.cell.tileID)
            let tiles = mask.restricted(to: cell).count(in: zooms)
            #expect(tiles == work.tiles)
            let (digest, size) = try put("shard of \(cell) \(zooms)")
            return .make {
                $0.token = offer.token
                $0.fetch = .make {
                    $0.shard = Data(digest.bytes)
                    $0.shardBytes = size
                    $0.stored = tiles
                    $0.bodyBytes = tiles * 7
                }
            }
        case .merge(let work):
            let name = try #require(Digest(bytes: work.manifest))
            let url = try #require(try blobs.url(of: name))
            let manifest = try PBMergeManifest(decoding: Array(try Data(contentsOf: url)))
            for shard in manifest.shards {
                let name = try #require(Digest(bytes: shard))
                #expect(try blobs.url(of: name) != nil)
            }
            #expect(manifest.formats.allSatisfy(exports.contains), "a merge for another worker")
            let main = manifest.withoutMbtiles ? "pmtiles" : "package"
            let (digest, size) = try put("\(main) of \(manifest.shards.map { Array($0) })")
            let files = try manifest.formats.map { format in
                let (digest, size) = try put("\(format) of \(manifest.shards.map { Array($0) })")
                return PBPackageFile.make { ($0.format, $0.sha256, $0.size) = (format, Data(digest.bytes), size) }
            }
            return .make {
                $0.token = offer.token
                $0.merge = .make {
                    $0.package = Data(digest.bytes)
                    $0.size = size
                    $0.tiles = 1
                    $0.tilesHash = "hash"
                    $0.files = files
                }
            }
        case nil: throw Talker.Silence()
        }
    }

    func put(_ text: String) throws -> (Digest, UInt64) {
        let bytes = Array(text.utf8)
        let temporary = try blobs.temporaryURL()
        try Durable.write(bytes, to: temporary)
        let digest = Digest(of: bytes)
        try blobs.putBlocking(temporary, digest: digest)
        return (digest, UInt64(bytes.count))
    }

    /// Works until cancelled.
    func work(credit: UInt32 = 2) async throws {
        try await talker.say(hello())
        while !Task.isCancelled {
            for message in try await receive(upTo: .milliseconds(200)) {
                switch message {
                case .welcome: try await talker.say(.ready(.make { $0.credit = credit }))
                case .offer(let offer):
                    try await talker.say(.commit(try result(of: offer)))
                    try await talker.say(.ready(.make { $0.credit = credit }))
                case .unknownSession: try await talker.say(hello())
                default: break
                }
            }
            try await talker.say(.progress(PBProgress()))
        }
    }
}

extension Talker {
    /// Polls a job until `isReached`.
    func watch(_ job: UInt64, until isReached: (PBJobStatus) -> Bool) async throws -> PBJobStatus {
        let deadline = ContinuousClock.now + .seconds(100)
        var last = PBJobStatus()
        while ContinuousClock.now < deadline {
            if case .jobStatus(let status) = try await ask(
                .getJob(
                    .make {
                        $0.job = job
                        $0.failures = 10
                    }))
            {
                #expect(status.stored + status.empty + status.failed + status.inFlightDone <= status.tiles)
                if isReached(status) { return status }
                last = status
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        Issue.record("job \(job) stayed \(last.state): \(last.batchesDone) of \(last.batches) batches, \(last.reason)")
        throw Silence()
    }

    func submit(_ body: PBSubmit) async throws -> PBSubmitted {
        guard case .submitted(let answer) = try await ask(.submit(body)) else { throw Silence() }
        return answer
    }

    func problem(_ message: Message) async throws -> PBProblem {
        guard case .problem(let answer) = try await ask(message) else { throw Silence() }
        return answer
    }
}
