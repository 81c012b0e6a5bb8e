import Blobs
import Errors
import Files
import Foundation
import Logging
import Scheduling
import Synchronization
import Telemetry
import Wire
import ZeroMQ

/// Serves blobs to workers that share no folder with the coordinator. Carries out the decisions of ``BlobServerCore``.
///
/// It has its own socket and thread, so that large transfers do not delay heartbeats. All file work runs outside this
/// loop.
actor BlobServer {
    /// Results of file operations that the loop has not read yet.
    private final class Answers: Sendable {
        private let events = Mutex<[BlobServerEvent]>([])
        func add(_ event: BlobServerEvent) { events.withLock { $0.append(event) } }
        func removeAll() -> [BlobServerEvent] {
            events.withLock { events in
                defer { events = [] }
                return events
            }
        }
    }

    private let router: RouterLink
    private let store: FolderBlobStore
    private let parts: PartialBlobs
    private let logger: Logger
    private let answers = Answers()
    private let started = ContinuousClock.now
    private var core: BlobServerCore
    private var peers = Peers()
    private var outbound: [(PeerID, [UInt8])] = []

    /// The endpoint with the port that was bound.
    nonisolated var endpoint: String { router.boundEndpoints.first ?? "" }

    init(
        _ store: FolderBlobStore, router: RouterLink, logger: Logger, policy: BlobServerPolicy = BlobServerPolicy()
    ) {
        self.router = router
        self.store = store
        self.logger = logger
        parts = PartialBlobs(store)
        core = BlobServerCore(policy)
    }

    /// A socket for blobs: few large frames.
    ///
    /// The queue of each peer is bounded by its window.
    static func bind(_ endpoint: String, security: LinkSecurity, options: LinkOptions) throws -> RouterLink {
        var options = options
        options.maxFrameBytes = [MessageType.maxBlobFrame]
        options.receiveHighWater = 16
        options.sendHighWater = 64
        options.inboxBytes = 64 << 20
        return try RouterLink(bind: [endpoint], security: security, options: options)
    }

    /// Serves until cancelled, then closes the socket.
    func run() async throws {
        do {
            try await serve()
        } catch is CancellationError {
            await router.close()
        } catch {
            await router.close()
            throw error
        }
    }

    private func serve() async throws {
        var (timerDue, sweepDue) = (now, now)
        while true {
            let frames = try await router.receive(upTo: .milliseconds(outbound.isEmpty ? 1_000 : 0))
            for inbound in frames { accept(inbound) }
            for event in answers.removeAll() { handle(event) }
            if now >= timerDue {
                timerDue = now + 1_000
                handle(.timer)
                if peers.count > 8_192 { peers.prune { [core] in core.knows($0.rawValue) } }
            }
            if now >= sweepDue {
                sweepDue = now + 600_000
                expireParts()
            }
            guard !outbound.isEmpty else { continue }
            let outgoing = outbound
            outbound = []
            let lost = await router.send(outgoing)
            if !lost.isEmpty { logger.debug("Blob frames lost", metadata: [LogKey.peers: "\(lost.count)"]) }
        }
    }

    private var now: Int64 {
        let (seconds, attoseconds) = (ContinuousClock.now - started).components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    private func accept(_ inbound: Inbound) {
        let now = Tick(milliseconds: now)
        guard !peers.isIgnored(inbound.peer, now: now) else { return }
        do {
            let frame = try Frame(decoding: inbound.bytes)
            guard Permissions.missing(frame.message, inbound.roles) == nil else {
                if let answer = Permissions.refusal(of: frame.message, inbound) {
                    outbound.append(
                        (inbound.peer, try Frame(session: frame.session, seq: 1, re: frame.seq, answer).encoded()))
                }
                return strike(inbound.peer, "the key has no role that allows blob transfers")
            }
            guard !WrongEndpoint.isFromCommand(frame.message.type) else {
                let answer = WrongEndpoint.answer(at: "blobs")
                outbound.append(
                    (inbound.peer, try Frame(session: frame.session, seq: 1, re: frame.seq, answer).encoded()))
                return strike(inbound.peer, "a \(frame.message.type) message does not belong on the blob endpoint")
            }
            guard peers.setConnection(of: SessionID(frame.session), to: inbound.peer, user: inbound.user) else {
                return strike(inbound.peer, "the session belongs to another key")
            }
            handle(.message(session: frame.session, seq: frame.seq, frame.message))
        } catch {
            strike(inbound.peer, error.message)
        }
    }

    private func strike(_ peer: PeerID, _ why: String) {
        let isIgnored = peers.strike(peer, now: Tick(milliseconds: now))
        if isIgnored { router.cut([peer]) }
        logger.info(
            isIgnored ? "Peer disconnected after three bad frames" : "Blob frame refused",
            metadata: [LogKey.errorMessage: "\(why)"])
    }

    // MARK: - Effects

    private func handle(_ event: BlobServerEvent) {
        for effect in core.handle(event, now: now) {
            switch effect {
            case .send(let session, let re, let message): post(message, to: session, re: re)
            case .strike(let session, let why):
                if let peer = peers.next(for: SessionID(session))?.peer { strike(peer, why) }
            case .look(let digest, let ticket, let size):
                work { [parts] in
                    .looked(
                        digest, ticket,
                        Self.result { () throws(StorageError) in try parts.findPart(of: digest, size: size) })
                }
            case .write(let digest, let ticket, let offset, let pieces):
                work { [parts] in
                    .wrote(
                        digest, ticket,
                        Self.result { () throws(StorageError) in
                            try parts.write(pieces, of: digest, at: offset)
                            return pieces.reduce(0) { $0 + UInt64($1.count) }
                        })
                }
            case .seal(let digest, let ticket, let size):
                work { [parts] in
                    let result = Self.result { () throws(StorageError) in try parts.seal(digest, size: size) }
                    if case .failure(let trouble) = result { return .sealed(digest, ticket, trouble) }
                    return .sealed(digest, ticket, nil)
                }
            case .find(let key, let ticket):
                work { [store] in
                    .found(key, ticket, Self.result { () throws(StorageError) in try store.length(of: key.digest) })
                }
            case .read(let key, let ticket, let offset, let count):
                work { [store] in
                    .read(
                        key, ticket,
                        Self.result { () throws(StorageError) in
                            guard let file = try store.url(of: key.digest) else {
                                throw StorageError(.missing, "The blob \(key.digest) was removed.")
                            }
                            return try FilePiece.read(file, at: offset, count: count)
                        })
                }
            case .stored(let digest, let size, let received):
                logger.info(
                    "Blob stored",
                    metadata: [
                        LogKey.blob: "\(digest)", LogKey.bytes: "\(size)",
                        LogKey.receivedBytes: "\(received)",
                    ])
            }
        }
    }

    private func post(_ message: Message, to session: UInt64, re: UInt64) {
        guard let (peer, seq, _) = peers.next(for: SessionID(session)) else { return }
        do {
            outbound.append((peer, try Frame(session: session, seq: seq, re: re, message).encoded()))
        } catch {
            logger.error(
                "Message cannot be sent",
                metadata: [LogKey.message: "\(message.type)", LogKey.errorMessage: "\(error)"])
        }
    }

    /// Runs a file operation outside the loop.
    ///
    /// Its result wakes the loop.
    private func work(_ body: @escaping @Sendable () -> BlobServerEvent) {
        // The task ends with its result. The core ignores a result that it no longer needs.
        Task { [answers, router] in
            do {
                answers.add(try await FileWork.run(body))
                router.wake()
            } catch { return }  // `body` throws nothing.
        }
    }

    private func expireParts() {
        Task { [parts, logger] in
            do {
                _ = try await FileWork.run { try parts.expire(olderThan: 3_600) }
            } catch {
                logger.info("Old partial blobs not removed", metadata: [LogKey.errorMessage: "\(error)"])
            }
        }
    }

    private static func result<Value>(_ body: () throws(StorageError) -> Value) -> Result<Value, BlobTrouble> {
        do throws(StorageError) {
            return .success(try body())
        } catch {
            // None of these is a permanent error of the sender: it may retry, and limits its retries itself.
            return .failure(
                BlobTrouble(code: "\(error.code)", text: error.message, isRetriable: error.code != .missing))
        }
    }
}
