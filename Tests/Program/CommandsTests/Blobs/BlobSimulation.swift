import Blobs
import Digests
import Files
import Foundation
import TestSupport
import Testing
import Tiles
import Wire

@testable import Coordinator
@testable import Worker

extension SplitMix {
    mutating func below(_ bound: Int) -> Int { bound <= 0 ? 0 : Int(next() % UInt64(bound)) }
    mutating func perMille(_ share: Int) -> Bool { below(1_000) < share }
}

/// Both cores of the blob link under a network that loses, doubles, delays, reorders and cuts, and a server that crashes.
///
/// Time is simulated; disks answer after a while; a crash loses what the disk had not done yet. All from one seed.
struct BlobSimulation {
    enum Happening {
        case toServer(client: Int, seq: UInt64, Message)
        case toClient(Int, re: UInt64, Message)
        case serverDisk(incarnation: Int, BlobServerEffect)
        case clientDisk(Int, BlobClientEffect)
        case linked(Int)
        case tick
        case fault
    }

    struct Client {
        var core: BlobClientCore
        /// Fetched bytes by transfer.
        var files: [BlobTransferID: [UInt8]] = [:]
        var wanted: [BlobTransferID: Digest] = [:]
        var puts: Set<BlobTransferID> = []
        var link = 0
        var lastArrival: [Bool: Int64] = [:]
    }

    static let clients = 3
    static let calm: Int64 = 30_000
    static let end: Int64 = 400_000

    var random: SplitMix
    var now: Int64 = 0
    var queue: [(at: Int64, order: Int, what: Happening, link: Int)] = []
    var order = 0
    var server: BlobServerCore
    var incarnation = 0
    var parts: [Digest: [UInt8]] = [:]
    var stored: [Digest: [UInt8]] = [:]
    var blobs: [Digest: [UInt8]] = [:]
    var peers: [Client] = []
    var loss = 0
    var doubling = 0
    var reorders = false
    var nextID: BlobTransferID = 0
    var open: Set<BlobTransferID> = []
    var strikes: [String] = []
    var sent: UInt64 = 0

    static func serverPolicy() -> BlobServerPolicy {
        var policy = BlobServerPolicy()
        policy.peerWindow = 1_024
        policy.globalWindow = 2_048
        policy.chunk = 64
        return policy
    }

    init(seed: UInt64) {
        random = SplitMix(state: seed)
        server = BlobServerCore(Self.serverPolicy())
        var policy = BlobClientPolicy()
        policy.chunk = UInt64(32 + random.below(64))
        policy.window = 512
        loss = random.perMille(600) ? random.below(50) : 0
        doubling = random.perMille(500) ? random.below(100) : 0
        reorders = random.perMille(400)
        for _ in 0..<Self.clients { peers.append(Client(core: BlobClientCore(policy))) }
        var digests: [Digest] = []
        for _ in 0..<6 {
            let bytes = (0..<1 + random.below(3_000)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let digest = Digest(of: bytes)
            blobs[digest] = bytes
            digests.append(digest)
        }
        for client in 0..<Self.clients {
            schedule(.linked(client), in: Int64(random.below(500)))
            // Two blobs of its own and one that others send as well.
            for digest in [digests[client * 2], digests[client * 2 + 1], digests[0]] { put(client, digest) }
            for _ in 0..<2 { get(client, digests[random.below(digests.count)]) }
        }
        schedule(.tick, in: 10)
        schedule(.fault, in: Int64(random.below(3_000)))
    }

    // MARK: - Running

    /// Runs to the end; says what is wrong, or `nil`.
    mutating func run() -> String? {
        while let next = pop(), now <= Self.end, !(open.isEmpty && now > Self.calm) {
            now = next.at
            happen(next.what, link: next.link)
            let underWay = server.underWay
            if underWay.up > server.policy.globalWindow { return "\(underWay.up) bytes are on credit at \(now)" }
            if underWay.down > server.policy.globalWindow { return "\(underWay.down) bytes are on their way at \(now)" }
            if !strikes.isEmpty { return "an honest peer was struck at \(now): \(strikes[0])" }
        }
        if !open.isEmpty { return "transfers \(open.sorted()) have not ended by \(now)" }
        for (digest, bytes) in stored where blobs[digest] != bytes { return "\(digest) was stored with other bytes" }
        return stored.count == blobs.count ? nil : "\(stored.count) of \(blobs.count) blobs are stored"
    }

    private mutating func happen(_ what: Happening, link: Int) {
        switch what {
        case .toServer(let client, let seq, let message):
            guard peers[client].link == link else { return }
            serve(.message(session: UInt64(client + 1), seq: seq, message))
        case .toClient(let client, let re, let message):
            guard peers[client].link == link else { return }
            act(client, .message(message, re: re))
        case .serverDisk(let incarnation, let effect): if incarnation == self.incarnation { disk(effect) }
        case .clientDisk(let client, let effect): disk(client, effect)
        case .linked(let client): act(client, .linked)
        case .tick:
            serve(.timer)
            for client in 0..<Self.clients where (peers[client].core.nextTick ?? .max) <= now { act(client, .tick) }
            schedule(.tick, in: 100)
        case .fault: fault()
        }
    }

    private mutating func fault() {
        guard now < Self.calm else {
            (loss, doubling, reorders) = (0, 0, false)
            return
        }
        if random.perMille(300) {
            incarnation += 1
            server = BlobServerCore(Self.serverPolicy())
            for client in 0..<Self.clients { cut(client) }
        } else {
            cut(random.below(Self.clients))
        }
        schedule(.fault, in: Int64(200 + random.below(6_000)))
    }

    private mutating func cut(_ client: Int) {
        peers[client].link += 1
        schedule(.linked(client), in: Int64(50 + random.below(1_000)))
    }

    // MARK: - Server

    private mutating func serve(_ event: BlobServerEvent) {
        for effect in server.handle(event, now: now) {
            switch effect {
            case .send(let session, let re, let message):
                travel(.toClient(Int(session) - 1, re: re, message), Int(session) - 1, up: false)
            case .strike(_, let why): strikes.append(why)
            case .stored: break
            default: schedule(.serverDisk(incarnation: incarnation, effect), in: Int64(random.below(40)))
            }
        }
    }

    private mutating func disk(_ effect: BlobServerEffect) {
        switch effect {
        case .look(let digest, let ticket, _):
            let found: PartialBlobs.Found = stored[digest] != nil ? .stored : .part(UInt64(parts[digest]?.count ?? 0))
            serve(.looked(digest, ticket, .success(found)))
        case .write(let digest, let ticket, let offset, let pieces):
            var bytes = parts[digest] ?? []
            let new = pieces.flatMap { Array($0) }
            if bytes.count < Int(offset) + new.count {
                bytes += [UInt8](repeating: 0, count: Int(offset) + new.count - bytes.count)
            }
            bytes.replaceSubrange(Int(offset)..<Int(offset) + new.count, with: new)
            parts[digest] = bytes
            serve(.wrote(digest, ticket, .success(UInt64(new.count))))
        case .seal(let digest, let ticket, let size):
            let bytes = parts.removeValue(forKey: digest) ?? []
            guard Digest(of: bytes) == digest, bytes.count == Int(size) else {
                return serve(
                    .sealed(digest, ticket, BlobTrouble(code: "digest-mismatch", text: "wrong", isRetriable: true)))
            }
            stored[digest] = bytes
            serve(.sealed(digest, ticket, nil))
        case .find(let key, let ticket):
            serve(.found(key, ticket, .success(stored[key.digest].map { UInt64($0.count) })))
        case .read(let key, let ticket, let offset, let count):
            let bytes = stored[key.digest] ?? []
            serve(.read(key, ticket, .success(Data(bytes[Int(offset)..<Int(offset) + count]))))
        case .send, .strike, .stored: break
        }
    }

    // MARK: - Clients

    private mutating func put(_ client: Int, _ digest: Digest) {
        nextID += 1
        open.insert(nextID)
        peers[client].wanted[nextID] = digest
        peers[client].puts.insert(nextID)
        act(client, .put(nextID, digest, size: UInt64(blobs[digest]?.count ?? 0)))
    }

    private mutating func get(_ client: Int, _ digest: Digest) {
        nextID += 1
        open.insert(nextID)
        peers[client].wanted[nextID] = digest
        act(client, random.perMille(200) ? .ask(nextID, digest) : .get(nextID, digest))
    }

    private mutating func act(_ client: Int, _ event: BlobClientEvent) {
        for effect in peers[client].core.handle(event, now: now) {
            switch effect {
            case .send(let seq, let message):
                if case .chunk(let body) = message { sent += UInt64(body.data.count) }
                travel(.toServer(client: client, seq: seq, message), client, up: true)
            case .read, .write: schedule(.clientDisk(client, effect), in: Int64(random.below(20)))
            case .end(let id, let outcome): ended(client, id, outcome)
            case .moved: break
            case .reconnect: cut(client)
            }
        }
    }

    private mutating func disk(_ client: Int, _ effect: BlobClientEffect) {
        switch effect {
        case .read(let id, let offset, let count):
            let bytes = peers[client].wanted[id].flatMap { blobs[$0] } ?? []
            act(client, .piece(id, offset: offset, Data(bytes[Int(offset)..<Int(offset) + count])))
        case .write(let id, let offset, let pieces):
            #expect(peers[client].files[id, default: []].count == Int(offset), "writes follow each other")
            peers[client].files[id, default: []] += pieces.flatMap { Array($0) }
            act(client, .wrote(id, pieces.reduce(0) { $0 + UInt64($1.count) }))
        default: break
        }
    }

    private mutating func ended(_ client: Int, _ id: BlobTransferID, _ outcome: BlobOutcome) {
        #expect(open.remove(id) != nil, "a transfer ends once")
        guard let digest = peers[client].wanted[id] else { return }
        switch outcome {
        case .stored: #expect(stored[digest] != nil, "told stored, and it is not")
        case .fetched: #expect(peers[client].files[id] == blobs[digest], "other bytes were fetched")
        case .size(let size): #expect(Int(size) == blobs[digest]?.count)
        case .absent:
            // Not there yet: asked again later.
            #expect(!peers[client].puts.contains(id))
            if now < Self.end / 2 { get(client, digest) }
        case .failed, .cancelled: Issue.record("transfer \(id) ended with \(outcome)")
        }
    }

    // MARK: - Network

    private mutating func travel(_ what: Happening, _ client: Int, up: Bool) {
        if random.perMille(loss) { return }
        for _ in 0..<(random.perMille(doubling) ? 2 : 1) {
            var at = now + Int64(1 + random.below(60))
            // TCP keeps the order; the seeds that reorder test that nothing relies on it.
            if !reorders { at = max(at, peers[client].lastArrival[up] ?? 0) }
            peers[client].lastArrival[up] = at
            schedule(what, in: at - now, link: peers[client].link)
        }
    }

    private mutating func schedule(_ what: Happening, in delay: Int64, link: Int = 0) {
        order += 1
        let entry = (at: now + delay, order: order, what: what, link: link)
        var low = 0
        var high = queue.count
        // Latest first, so that the next one is at the end.
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].at > entry.at || (queue[middle].at == entry.at && queue[middle].order > entry.order) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        queue.insert(entry, at: low)
    }

    private mutating func pop() -> (at: Int64, order: Int, what: Happening, link: Int)? { queue.popLast() }
}
