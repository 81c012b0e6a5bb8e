import Foundation
import Logging
import Scheduling
import Shards
import Telemetry
import Tiles
import Wire
import ZeroMQ

extension CoordinatorEngine {
    /// Handles one frame from a peer.
    func accept(_ inbound: Inbound) async {
        guard !peers.isIgnored(inbound.peer, now: now), let frame = decode(inbound), permits(frame, inbound) else {
            return
        }
        if inbound.endpointIndex == Self.control {
            await answer(frame, Asker(peer: inbound.peer, session: frame.session, seq: frame.seq))
        } else {
            hear(frame, inbound)
        }
    }

    /// The decoded frame, or `nil` for a malformed one, which counts against its peer.
    func decode(_ inbound: Inbound) -> Frame? {
        do {
            return try Frame(decoding: inbound.bytes)
        } catch {
            strike(inbound, "\(error)")
            if error.code == .versionMismatch { rejectVersion(inbound, error.message) }
            // A header of our major version is enough to answer the sender. All other malformed frames are dropped.
            if let header = error.header, inbound.endpointIndex == Self.control {
                let text = WireConversions.problem("\(error.code)", error.message)
                if let bytes = encode(text, session: header.session, seq: 1, re: header.seq) {
                    turn.letters.append(Turn.Letter(peer: inbound.peer, bytes: bytes))
                }
            }
            return nil
        }
    }

    /// Answers a peer of another major version, whose frames cannot be read here.
    ///
    /// The peer cannot read the answer either, but sees the mismatch.
    private func rejectVersion(_ inbound: Inbound, _ why: String) {
        let body = PBReject.make {
            $0.code = "version-mismatch"
            $0.text = why
        }
        let answer: Message =
            inbound.endpointIndex == Self.control ? WireConversions.problem("version-mismatch", why) : .reject(body)
        if let bytes = encode(answer, session: 1, seq: 1) {
            turn.letters.append(Turn.Letter(peer: inbound.peer, bytes: bytes))
        }
    }

    func strike(_ inbound: Inbound, _ why: String) {
        let isIgnored = peers.strike(inbound.peer, now: now)
        if isIgnored { router.cut([inbound.peer]) }
        logger.info(
            isIgnored ? "Peer disconnected after three bad frames" : "Frame refused",
            metadata: ["packhorse.peer.user": "\(inbound.user ?? "-")", LogKey.errorMessage: "\(why)"])
    }

    func encode(
        _ message: Message, session: SessionID, seq: UInt64, re: UInt64 = 0,
        minor: UInt8 = WireVersion.minors.upperBound
    ) -> [UInt8]? {
        do {
            return try Frame(session: session, seq: seq, re: re, epoch: store.epoch, minor: minor, message).encoded()
        } catch {
            logger.error(
                "Message cannot be sent",
                metadata: ["packhorse.message": "\(message.type)", LogKey.errorMessage: "\(error)"])
            return nil
        }
    }

    // MARK: - From workers

    private func hear(_ frame: Frame, _ inbound: Inbound) {
        let id = frame.session
        guard peers.note(id, at: inbound.peer, user: inbound.user) else {
            strike(inbound, "the session belongs to another key")
            return
        }
        // The roles of a key are part of the worker's profile. After a change the worker must send a new hello.
        if peers.haveChanged(inbound.roles, of: id), scheduler.knows(id) { post(.unknownSession, to: id) }
        if peers.count > 2 * scheduler.sessionCount + 256 { peers.prune(scheduler.knows) }
        answering = (id, frame.seq)
        heard[id] = frame.seq
        if heard.count > 2 * scheduler.sessionCount + 256 { heard = heard.filter { scheduler.knows($0.key) } }
        defer { answering = nil }
        switch frame.message {
        case .hello(let body):
            if let refusal = refusal(of: body) ?? crowd(id) {
                reject(refusal, inbound.peer, frame)
            } else {
                peers.agree(on: Self.minor(of: body), with: id)
                let held = body.held.map { LeaseToken($0.token) }
                logger.info(
                    "Worker connected",
                    metadata: [
                        LogKey.worker: "\(body.name)", "packhorse.session": "\(id)",
                        "packhorse.leases.held": "\(held.count)",
                    ])
                var profile = WireConversions.profile(body)
                profile.canFetch = profile.canFetch && inbound.roles.contains(.worker)
                profile.canMerge =
                    profile.canMerge && inbound.roles.contains(.merger) && mayMerge(body)
                profile.packageFormat = Self.packageFormat(of: body) ?? 0
                feed(.hello(id, profile, held: held))
            }
        case .ready(let body): feed(.ready(id, credit: body.credit))
        case .progress(let body):
            feed(
                .progress(
                    id, body.leases.map { LeaseProgress(token: LeaseToken($0.token), done: $0.done, bytes: $0.bytes) },
                    origins: body.origins.map(WireConversions.use), acknowledged: body.grants, namesHeld: body.namesHeld
                ))
        case .commit(let body): check(body, frame)
        case .fail(let body):
            logger.info(
                "Attempt failed",
                metadata: [
                    "packhorse.session": "\(id)", LogKey.token: "\(body.token)", LogKey.errorCode: "\(body.cause)",
                    LogKey.errorMessage: "\(body.detail)",
                ])
            feed(
                .fail(
                    id, LeaseToken(body.token), .reported(cause: body.cause, detail: body.detail),
                    retriable: body.retriable, lostShards: body.lostShards.compactMap(ContentDigest.init)))
        case .return(let body): feed(.giveBack(id, body.tokens.map { LeaseToken($0) }))
        case .bye:
            feed(.bye(id))
        default: strike(inbound, "a \(frame.message.type) message does not belong on the work endpoint")
        }
    }

    /// Budgets are divided once per tick, after all of its frames.
    private func feed(_ event: Event) { take(scheduler.apply(event, now: now)) }

    /// Why a worker is refused, or `nil`.
    private func refusal(of body: PBHello) -> PBReject? {
        do {
            _ = try WireVersion.negotiate(minimum: body.wireMinorMin, maximum: body.wireMinorMax)
        } catch {
            return .make {
                $0.code = "version-mismatch"
                $0.text = error.message
            }
        }
        if body.streams && blobPort == 0 {
            return .make {
                $0.code = "no-blob-endpoint"
                $0.text = "The coordinator streams no blobs. Give the worker the shared folder with --blobs."
            }
        }
        guard body.streams || body.blobStore == blobs.id else {
            return .make {
                $0.code = "wrong-blob-store"
                $0.text =
                    "The worker's blob store is '\(body.blobStore.prefix(64))', the coordinator's is '\(blobs.id)'."
                    + " Point the worker's --blobs at the folder the coordinator uses."
            }
        }
        let lacksShards = body.canFetch && !body.shardFormats.contains(Self.shardFormat)
        let lacksPackages = body.canMerge && !body.canFetch && Self.packageFormat(of: body) == nil
        guard lacksShards || lacksPackages else { return nil }
        return .make {
            $0.code = "version-mismatch"
            $0.text =
                "The worker does not write \(lacksShards ? "shard" : "package") format"
                + " \(lacksShards ? Self.shardFormat : Self.newestPackageFormat). Use one build for all."
        }
    }

    /// The wire minor for a worker whose range overlaps ours.
    private static func minor(of body: PBHello) -> UInt8 {
        UInt8(clamping: min(body.wireMinorMax, UInt32(WireVersion.minors.upperBound)))
    }

    /// Why another worker does not fit, or `nil`.
    private func crowd(_ id: SessionID) -> PBReject? {
        guard !scheduler.knows(id), scheduler.sessionCount >= options.mostSessions else { return nil }
        return .make {
            $0.code = "too-many-workers"
            $0.text =
                "\(scheduler.sessionCount) workers are known already. Silent ones are forgotten after ten minutes."
            $0.retriable = true
        }
    }

    /// The newest package format that the worker and this build both support.
    private static func packageFormat(of body: PBHello) -> UInt32? {
        body.packageFormats.filter(packageFormats.contains).max()
    }

    /// Whether a worker gets merges.
    ///
    /// A worker of the previous build gets them only while no newer one is connected, because it cannot continue
    /// packages of the newer format.
    private func mayMerge(_ body: PBHello) -> Bool {
        guard let format = Self.packageFormat(of: body) else { return false }
        return format == Self.newestPackageFormat || !scheduler.canMerge(packageFormat: Self.newestPackageFormat)
    }

    /// The shard format that jobs of this build use.
    static let shardFormat: UInt32 = 1
    /// The newest package format.
    ///
    /// The previous one is written only while a merger of the previous build is connected.
    static let newestPackageFormat: UInt32 = 3
    /// Package formats of released versions.
    static let packageFormats: Set<UInt32> = [1, newestPackageFormat]

    func reject(_ body: PBReject, _ peer: PeerID, _ frame: Frame) {
        logger.warning(
            "Worker rejected", metadata: [LogKey.errorCode: "\(body.code)", LogKey.errorMessage: "\(body.text)"])
        if let bytes = encode(.reject(body), session: frame.session, seq: 1, re: frame.seq) {
            turn.letters.append(Turn.Letter(peer: peer, bytes: bytes))
        }
    }

    /// A commit counts only if the blobs that it names exist.
    ///
    /// The store is asked outside the loop.
    private func check(_ body: PBCommit, _ frame: Frame) {
        guard let result = WireConversions.result(body) else { return }
        let check = CommitCheck(session: frame.session, token: LeaseToken(body.token))
        // Workers repeat unanswered messages. The check of the first one is still running.
        guard checking.count < options.mostChecks, checking.insert(check).inserted else { return }
        let digests = result.blobs
        for digest in digests { removals.claim(digest) }
        workshop.run(on: .checks) { [blobs, removals] in
            do {
                for digest in digests { await removals.pass(digest) }
                return .checked(check, seq: frame.seq, result, try await Self.missing(result, in: blobs))
            } catch {
                for digest in digests { removals.settle(digest, mayBeNamed: false) }
                return .unchecked(check, why: "\(error)")
            }
        }
    }

    /// The store did not answer, so the coordinator does not answer either: the worker keeps its result and sends it
    /// again.
    func unchecked(_ check: CommitCheck, _ why: String) {
        checking.remove(check)
        releasePostponed()
        logger.warning(
            "Blob store does not answer; a result waits",
            metadata: [LogKey.token: "\(check.token.rawValue)", LogKey.errorMessage: "\(why)"])
    }

    /// Handles a commit whose blobs were looked up.
    func checked(_ check: CommitCheck, seq: UInt64, _ result: CommitResult, _ trouble: Trouble?) {
        checking.remove(check)
        answering = (check.session, seq)
        defer { answering = nil }
        if let trouble {
            feed(.refusedCommit(check.session, check.token, trouble))
        } else {
            feed(.commit(check.session, check.token, result))
        }
        // Removal lists that are made from now on see the writes of this tick.
        for digest in result.blobs { removals.settle(digest, mayBeNamed: trouble == nil) }
        releasePostponed()
    }

    /// Why the blobs of a result cannot be used, or `nil`.
    private static func missing(_ result: CommitResult, in blobs: any ManagedBlobStore) async throws -> Trouble? {
        let named: [(digest: ContentDigest, size: UInt64)] =
            switch result {
            case .fetch(let digest, let counts, _): [(digest, counts.shardBytes)]
            case .merge(let package): [(package.digest, package.size)] + package.files.map { ($0.digest, $0.size) }
            }
        for (digest, size) in named {
            guard let name = Digest(bytes: digest.bytes), let found = try await blobs.size(of: name) else {
                return Trouble(cause: "blob-missing", detail: "\(digest) is not in the coordinator's blob store")
            }
            guard found == size else {
                return Trouble(cause: "blob-missing", detail: "\(digest) has \(found) bytes, the commit says \(size)")
            }
        }
        return nil
    }

    // MARK: - To workers

    /// Adds a message for a worker to the tick.
    func post(_ message: Outgoing, to session: SessionID) {
        guard var wire = wire(message), let (peer, seq, minor) = peers.next(for: session) else { return }
        // A worker of an older version does not know this message.
        guard wire.type.minor <= minor else { return }
        if case .pong(var body) = wire {
            body.draining = scheduler.isDraining(session)
            wire = .pong(body)
        }
        if case .welcome(var body) = wire {
            body.wireMinor = UInt32(minor)
            wire = .welcome(body)
        }
        if case .stale(let token, let reason) = message {
            // The token is outdated: the worker was considered dead, or its result does not count.
            logger.notice(
                "Result refused",
                metadata: [
                    "packhorse.session": "\(session)", LogKey.token: "\(token.rawValue)", LogKey.errorCode: "\(reason)",
                ])
        }
        var re = answering?.session == session ? answering?.seq ?? 0 : 0
        if case .grants = message { re = heard[session] ?? 0 }
        guard let bytes = encode(wire, session: session, seq: seq, re: re, minor: minor) else { return }
        var letter = Turn.Letter(peer: peer, bytes: bytes)
        if case .offer(let offer) = message { letter.offer = (session, offer.token) }
        turn.letters.append(letter)
    }

    private func wire(_ message: Outgoing) -> Message? {
        switch message {
        case .welcome(let adopted):
            .welcome(
                .make {
                    $0.build = options.build
                    $0.heartbeatMs = UInt32(clamping: options.policy.heartbeat)
                    $0.adopted = adopted.map(\.rawValue)
                    $0.blobPort = blobPort
                })
        case .offer(let offer): wire(offer)
        case .ack(let token, let digest):
            .ack(
                .make {
                    $0.token = token.rawValue
                    $0.digest = Data(digest.bytes)
                })
        case .stale(let token, let reason):
            .stale(
                .make {
                    $0.token = token.rawValue
                    $0.reason = reason
                })
        case .pong(let cancelled): .pong(.make { $0.cancelled = cancelled.map(\.rawValue) })
        case .grants(let grants): WireConversions.grants(grants)
        case .unknownSession: .unknownSession(PBUnknownSession())
        }
    }

    private func wire(_ offer: Offer) -> Message? {
        guard let spec = specs[offer.job] else { return nil }
        return .offer(
            .make {
                $0.token = offer.token.rawValue
                $0.job = offer.job
                $0.leaseMs = UInt32(clamping: offer.lease)
                $0.attempt = offer.attempt
                switch offer.work {
                case .fetch(_, let cell, let zooms, let tiles):
                    $0.fetch = .make {
                        $0.cell = PBTile(cell)
                        $0.zoomMin = UInt32(zooms.min)
                        $0.zoomMax = UInt32(zooms.max)
                        $0.mask = Data(spec.mask.restricted(to: cell).clipped(toZoom: zooms.max).encoded())
                        $0.tiles = tiles
                        $0.tileset = Data(spec.tileset)
                        $0.origin = spec.origin?.name ?? ""
                        $0.sources = offer.sources.map { Data($0.bytes) }
                        $0.base = offer.base.map { Data($0.bytes) }
                        $0.partialFirst = offer.isPartialFirst
                        $0.sourceVersion = offer.sourceVersion ?? ""
                        $0.sourcesVersion = offer.sourcesVersion ?? ""
                    }
                case .merge(_, let id, let manifest):
                    $0.merge = .make {
                        $0.manifest = Data(manifest.bytes)
                        $0.packageID = id
                    }
                }
            })
    }
}

extension CoordinatorOptions {
    /// The scheduler's limits and intervals under these options.
    var policy: SchedulerPolicy {
        var policy = SchedulerPolicy()
        policy.lease = Int64(max(leaseSeconds, 0.1) * 1_000)
        policy.heartbeat = Int64(max(heartbeatSeconds, 0.05) * 1_000)
        policy.restartGrace = Int64(max(restartGraceSeconds, 0) * 1_000)
        policy.hasNewWorkers = hasNewWorkers
        policy.baselineBytes = keptTileBytes
        return policy
    }
}

extension CommitResult {
    /// The shard, or the files of the package, that the result names.
    fileprivate var blobs: [ContentDigest] {
        switch self {
        case .fetch(let digest, _, _): [digest]
        case .merge(let package): package.digests
        }
    }
}
