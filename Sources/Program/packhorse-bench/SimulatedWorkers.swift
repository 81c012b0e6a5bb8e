import Blobs
internal import CommandSupport
import Digests
import Errors
internal import Files
import Foundation
import Shards
import Tiles
import Wire
import ZeroMQ

/// The workers of a measurement: state machines on one thread that share a swarm of sockets.
final class SimulatedWorkers {
    private struct Worker {
        let session = UInt64.random(in: 1...UInt64.max)
        var seq: UInt64 = 0
        var isWelcome = false
        /// Results that are not acknowledged, by token.
        var spool: [UInt64: PBCommit] = [:]
        var reportAt: ContinuousClock.Instant
    }

    let swarm: DealerSwarm
    private(set) var acknowledged = 0
    private(set) var stale = 0
    /// Tiles of acknowledged batches.
    private(set) var tiles: UInt64 = 0
    private let store: FolderBlobStore
    private let credit: UInt32
    private var workers: [Worker]
    /// The interval of a worker's reports, as in real workers.
    private static let heartbeat: Duration = .seconds(5)

    init(_ swarm: DealerSwarm, store: FolderBlobStore, count: Int, credit: UInt32) {
        self.swarm = swarm
        self.store = store
        self.credit = credit
        let now = ContinuousClock.now
        // Spread over the interval, like workers that started at different times.
        workers = (0..<count).map { Worker(reportAt: now + Self.heartbeat * (1 + Double($0) / Double(count))) }
    }

    /// Sends hello for every worker and waits until all are accepted.
    func greet(until end: ContinuousClock.Instant) throws {
        for index in workers.indices { try hello(index) }
        while workers.contains(where: { !$0.isWelcome }) {
            try serveFrames()
            guard ContinuousClock.now < end else {
                throw CLIError(.unavailable, "\(workers.count { !$0.isWelcome }) simulated workers got no answer")
            }
        }
    }

    /// Requests work for every worker.
    func takeWork() throws { for index in workers.indices { try ready(index) } }

    /// Reads the arrived frames, answers them, and sends due reports.
    func serveFrames() throws {
        for (index, bytes) in try swarm.receive(upTo: .milliseconds(100)) {
            try handle(try Frame(decoding: bytes).message, index)
        }
        let now = ContinuousClock.now
        for index in workers.indices where workers[index].reportAt <= now {
            workers[index].reportAt = now + Self.heartbeat
            guard workers[index].isWelcome else { continue }
            for commit in workers[index].spool.values { try send(.commit(commit), from: index) }
            let tokens = Array(workers[index].spool.keys)
            try send(.progress(.make { $0.leases = tokens.map { token in .make { $0.token = token } } }), from: index)
        }
    }

    private func handle(_ message: Message, _ index: Int) throws {
        switch message {
        case .welcome: workers[index].isWelcome = true
        case .offer(let offer):
            guard case .fetch(let work) = offer.work else { return }
            let commit = try result(of: work, token: offer.token)
            workers[index].spool[offer.token] = commit
            try send(.commit(commit), from: index)
        case .ack(let answer):
            guard let commit = workers[index].spool.removeValue(forKey: answer.token) else { return }
            acknowledged += 1
            tiles += commit.fetch.stored
            try ready(index)
        case .stale(let answer):
            guard workers[index].spool.removeValue(forKey: answer.token) != nil else { return }
            stale += 1
            try ready(index)
        case .unknownSession: try hello(index)
        case .reject(let body): throw CLIError(.unavailable, "the coordinator rejects simulated workers: \(body.text)")
        // All other messages go in the other direction or to other peers.
        default: break
        }
    }

    private func hello(_ index: Int) throws {
        try send(
            .hello(
                .make {
                    $0.wireMinorMin = UInt32(WireVersion.minors.lowerBound)
                    $0.wireMinorMax = UInt32(WireVersion.minors.upperBound)
                    $0.build = "bench"
                    $0.name = "bench-\(index)"
                    $0.host = "bench"
                    $0.canFetch = true
                    $0.blobStore = store.id
                    $0.shardFormats = [1]
                }), from: index)
    }

    private func ready(_ index: Int) throws {
        let free = credit - min(credit, UInt32(clamping: workers[index].spool.count))
        try send(.ready(.make { $0.credit = free }), from: index)
    }

    private func send(_ message: Message, from index: Int) throws {
        workers[index].seq += 1
        let frame = Frame(session: workers[index].session, seq: workers[index].seq, message)
        // A full queue drops it, like a broken connection. The next report repeats it.
        _ = swarm.send(try frame.encoded(), from: index)
    }

    /// A real shard of the batch's first tile, with counts that claim all tiles.
    private func result(of work: PBFetchWork, token: UInt64) throws -> PBCommit {
        guard let cell = work.cell.tileID, let zooms = ZoomRange(min: Int(work.zoomMin), max: Int(work.zoomMax)),
            let tile = try TileMask(decoding: work.mask).tiles(in: zooms, under: cell).first(where: { _ in true })
        else { throw CLIError(.badData, "an offer that cannot be decoded") }
        let temporary = try store.temporaryURL()
        let writer = try ShardWriter(
            temporary: temporary, header: ShardHeader(tileset: "bench", cell: cell, zooms: zooms))
        try writer.add(tile, body: Array("tile \(tile)".utf8), etag: nil, lastModified: nil)
        let shard = try writer.finish()
        try store.putBlocking(temporary, digest: shard.digest)
        return .make {
            $0.token = token
            $0.fetch = .make {
                $0.shard = Data(shard.digest.bytes)
                $0.shardBytes = shard.bytes
                $0.shardFooter = Data(shard.footerDigest.bytes)
                $0.stored = work.tiles
                $0.distinct = 1
                $0.bodyBytes = shard.bodyBytes
            }
        }
    }
}
