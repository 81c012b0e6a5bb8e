internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import Logging
internal import Telemetry
internal import Wire
internal import ZeroMQ

/// A worker's link to the coordinator's blobs. Carries out the decisions of ``BlobClientCore``.
actor BlobClient {
    /// The local end of a transfer.
    private struct Local {
        let file: URL?
        /// Called for every transferred piece, so that a long transfer does not count as stalled.
        let onMove: @Sendable () -> Void
        let continuation: CheckedContinuation<BlobOutcome, Never>
        /// Running file operations.
        ///
        /// The result waits for them, because the caller may remove the file afterwards.
        var operations = 0
        var outcome: BlobOutcome?
    }

    private let security: LinkSecurity
    private let options: LinkOptions
    private let logger: Logger
    private let session = UInt64.random(in: 1...UInt64.max)
    private let started = ContinuousClock.now
    private var core: BlobClientCore
    private var link: DealerLink?
    private var lastState = LinkState.connecting
    private var locals: [BlobTransferID: Local] = [:]
    private var lastID: BlobTransferID = 0
    private var outbox: [(seq: UInt64, message: Message)] = []
    private var wantsReconnect = false
    private var isSending = false

    init(_ security: LinkSecurity, allowPlain: Bool, _ logger: Logger, policy: BlobClientPolicy = BlobClientPolicy()) {
        self.security = security
        self.logger = logger
        core = BlobClientCore(policy)
        var options = LinkOptions()
        options.allowPlain = allowPlain
        options.maxFrameBytes = [MessageType.maxBlobFrame]
        options.sendHighWater = 32
        options.receiveHighWater = 32
        options.sendPatience = .seconds(2)
        options.logger = logger
        self.options = options
    }

    /// Connects to the blob endpoint.
    ///
    /// Called again when the coordinator restarts at another address.
    func connect(to endpoint: String) async {
        guard link?.endpoint != endpoint else { return }
        let old = link
        do {
            link = try DealerLink(connect: endpoint, security: security, options: options)
            lastState = .connecting
            logger.info("Blobs are streamed", metadata: [LogKey.endpoint: "\(endpoint)"])
        } catch {
            logger.error("Blob endpoint not usable", metadata: [LogKey.errorMessage: "\(error.message)"])
        }
        await old?.close()
    }

    /// Transfers data until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await step()
        }
        await link?.close()
    }

    private func step() async {
        guard let link else {
            do { try await Task.sleep(for: .milliseconds(50)) } catch { return }
            return
        }
        let wait = core.nextTick.map { min(max($0 - now, 10), 500) } ?? 500
        var frames: [[UInt8]] = []
        do {
            frames = try await link.receive(upTo: .milliseconds(wait))
        } catch {
            // The task was cancelled, or the link was replaced meanwhile.
            do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
        }
        let state = link.state
        if state != lastState {
            lastState = state
            logger.info(
                "Blob link state changed",
                metadata: [LogKey.endpoint: "\(link.endpoint)", LogKey.linkState: "\(state)"])
            if state == .connected { handle(.linked) }
        }
        for bytes in frames { receive(bytes) }
        if let due = core.nextTick, due <= now { handle(.tick) }
        await flush()
    }

    private func receive(_ bytes: [UInt8]) {
        do {
            let frame = try Frame(decoding: bytes)
            guard frame.session == session else { return }
            handle(.message(frame.message, re: frame.re))
        } catch {
            logger.info("Blob frame refused", metadata: [LogKey.errorCode: "\(error.code)"])
        }
    }

    private var now: Int64 { (ContinuousClock.now - started).milliseconds }

    // MARK: - Transfers

    /// Sends a file.
    ///
    /// Returns when the coordinator has stored it durably or refused it permanently, or when the task is cancelled.
    func put(_ file: URL, _ digest: Digest, size: UInt64, onMove: @escaping @Sendable () -> Void) async -> BlobOutcome {
        await transfer(file, onMove: onMove) { .put($0, digest, size: size) }
    }

    /// Downloads a blob into a file.
    func get(_ digest: Digest, into file: URL, onMove: @escaping @Sendable () -> Void) async -> BlobOutcome {
        await transfer(file, onMove: onMove) { .get($0, digest) }
    }

    /// Requests a blob's size.
    func requestSize(of digest: Digest) async -> BlobOutcome {
        await transfer(nil, onMove: Self.nothing) { .ask($0, digest) }
    }

    private static let nothing: @Sendable () -> Void = {}

    private func transfer(
        _ file: URL?, onMove: @escaping @Sendable () -> Void, _ event: (BlobTransferID) -> BlobClientEvent
    ) async -> BlobOutcome {
        lastID += 1
        let id = lastID
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                locals[id] = Local(file: file, onMove: onMove, continuation: continuation)
                handle(event(id))
                if Task.isCancelled { handle(.cancel(id)) }
                // Sending suspends, and this closure cannot suspend.
                Task { await flush() }
            }
        } onCancel: {
            Task { await self.cancel(id) }
        }
    }

    private func cancel(_ id: BlobTransferID) { handle(.cancel(id)) }

    // MARK: - Effects

    private func handle(_ event: BlobClientEvent) {
        for effect in core.handle(event, now: now) {
            switch effect {
            case .send(let seq, let message): outbox.append((seq, message))
            case .read(let id, let offset, let count):
                operate(id) { file in .piece(id, offset: offset, try FilePiece.read(file, at: offset, count: count)) }
            case .write(let id, let offset, let pieces):
                operate(id) { file in
                    try FilePiece.write(pieces, to: file, at: offset)
                    return .wrote(id, pieces.reduce(0) { $0 + UInt64($1.count) })
                }
            case .end(let id, let outcome):
                locals[id]?.outcome = outcome
                finish(id)
            case .moved(let id): locals[id]?.onMove()
            case .reconnect: wantsReconnect = true
            }
        }
    }

    private func operate(_ id: BlobTransferID, _ body: @escaping @Sendable (URL) throws -> BlobClientEvent) {
        guard let file = locals[id]?.file else { return }
        locals[id]?.operations += 1
        // The task ends with its event, and the transfer waits for it.
        Task {
            var result: BlobClientEvent?
            do {
                result = try await FileWork.run { try body(file) }
            } catch {
                logger.warning("File of a blob transfer failed", metadata: [LogKey.errorMessage: "\(error)"])
            }
            await operated(id, result)
        }
    }

    private func operated(_ id: BlobTransferID, _ event: BlobClientEvent?) async {
        locals[id]?.operations -= 1
        locals[id]?.onMove()
        if let event {
            handle(event)
        } else {
            // The transfer waits only for the operation that ran; the core ignores the other event.
            handle(.piece(id, offset: 0, nil))
            handle(.wrote(id, nil))
        }
        finish(id)
        await flush()
    }

    private func finish(_ id: BlobTransferID) {
        guard let local = locals[id], let outcome = local.outcome, local.operations == 0 else { return }
        locals[id] = nil
        local.continuation.resume(returning: outcome)
    }

    /// Sends frames in order.
    ///
    /// Without a connection frames are dropped, because the core starts over after connecting.
    private func flush() async {
        guard !isSending else { return }
        isSending = true
        defer { isSending = false }
        while !outbox.isEmpty || wantsReconnect {
            let batch = outbox
            outbox = []
            if wantsReconnect {
                wantsReconnect = false
                logger.info("No message from the blob endpoint; reconnecting")
                await link?.reconnect()
            }
            guard let link, link.state == .connected, !batch.isEmpty else { continue }
            do {
                let frames = try batch.map { try Frame(session: session, seq: $0.seq, $0.message).encoded() }
                try await link.send(frames)
            } catch {
                logger.info("Blob messages not sent", metadata: [LogKey.errorMessage: "\(error)"])
            }
        }
    }
}
