import Foundation
import Logging
import Scheduling
import Shards
import Telemetry
import Tiles
import Wire
import ZeroMQ

extension CoordinatorEngine {
    /// Takes one frame from a peer.
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

    /// The frame, or `nil` for a malformed one, which counts against its peer.
    func decode(_ inbound: Inbound) -> Frame? {
        do {
            return try Frame(decoding: inbound.bytes)
        } catch {
            strike(inbound, "\(error)")
            if error.code == .versionMismatch { rejectVersion(inbound, error.message) }
            // A header of our major version is enough to tell the sender; anything else gets silence.
            if let header = error.header, inbound.endpointIndex == Self.control {
                let text = WireConversions.problem("\(error.code)", error.message)
                if let bytes = encode(text, session: header.session, seq: 1, re: header.seq) {
                    turn.letters.append(Turn.Letter(peer: inbound.peer, bytes: bytes))
                }
            }
            return nil
        }
    }

    /// Tells a peer of another major version, whose frames cannot be read here: it cannot read ours either, but sees that.
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
            isIgnored ? "peer cut after three bad frames" : "frame refused",
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
                "message cannot be sent",
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
        // What a worker may do is part of its profile: with other roles it introduces itself anew.
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
                    "worker says hello",
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
                "attempt failed",
                metadata: [
                    "packhorse.session": "\(id)", LogKey.token: "\(body.token)", LogKey.errorCode: "\(body.cause)",
                    LogKey.errorMessage: "\(body.detail)",
                ])
            feed(
                .fail(
                    id, LeaseToken(body.token), .heard(cause: body.cause, detail: body.detail),
                    retriable: body.retriable, lostShards: body.lostShards.compactMap(ContentDigest.init)))
        case .return(let body): feed(.giveBack(id, body.tokens.map { LeaseToken($0) }))
        case .bye:
            feed(.bye(id))
        default: strike(inbound, "a \(frame.message.type) message does not belong on the work endpoint")
        }
    }

    /// Budgets are divided once a turn, when all of its frames have been heard.
    private func feed(_ event: Event) { take(scheduler.apply(event, now: now)) }

    /// Why a worker cannot be had, or `nil`.
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

    /// The wire minor to speak with a worker whose range meets ours.
    private static func minor(of body: PBHello) -> UInt8 {
        UInt8(clamping: min(body.wireMinorMax, UInt32(WireVersion.minors.upperBound)))
    }

    /// Why there is no room for another worker, or `nil`.
    private func crowd(_ id: SessionID) -> PBReject? {
        guard !scheduler.knows(id), scheduler.sessionCount >= options.mostSessions else { return nil }
        return .make {
            $0.code = "too-many-workers"
            $0.text =
                "\(scheduler.sessionCount) workers are known already. Silent ones are forgotten after ten minutes."
            $0.retriable = true
        }
    }

    /// The newest version of packages that a worker and this build know both.
    private static func packageFormat(of body: PBHello) -> UInt32? {
        body.packageFormats.filter(packageFormats.contains).max()
    }

    /// Whether a worker gets merges: one of the build before only while there is no newer one, because it cannot do what was begun for those.
    private func mayMerge(_ body: PBHello) -> Bool {
        guard let format = Self.packageFormat(of: body) else { return false }
        return format == Self.newestPackageFormat || !scheduler.canMerge(packageFormat: Self.newestPackageFormat)
    }

    /// What jobs of this build are pinned to.
    static let shardFormat: UInt32 = 1
    /// The newest is written, unless a merger of the build before is there: an upgrade ends when the last of them has left.
    static let newestPackageFormat: UInt32 = 3
    /// Versions that were in a release.
    static let packageFormats: Set<UInt32> = [1, newestPackageFormat]

    func reject(_ body: PBReject, _ peer: PeerID, _ frame: Frame) {
        logger.warning(
            "worker rejected", metadata: [LogKey.errorCode: "\(body.code)", LogKey.errorMessage: "\(body.text)"])
        if let bytes = encode(.reject(body), session: frame.session, seq: 1, re: frame.seq) {
            turn.letters.append(Turn.Letter(peer: peer, bytes: bytes))
        }
    }

    /// A commit counts only when what it names is really there; the store is asked beside the loop.
    private func check(_ body: PBCommit, _ frame: Frame) {
        guard let result = WireConversions.result(body) else { return }
        let check = CommitCheck(session: frame.session, token: LeaseToken(body.token))
        // Workers repeat what is not answered; the first one's answer is on its way.
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

    /// The store gave no answer, so neither does the coordinator: the worker keeps its result and says it again.
    func unchecked(_ check: CommitCheck, _ why: String) {
        checking.remove(check)
        releasePostponed()
        logger.warning(
            "blob store does not answer; a result waits",
            metadata: [LogKey.token: "\(check.token.rawValue)", LogKey.errorMessage: "\(why)"])
    }

    /// A commit whose blob was looked for.
    func checked(_ check: CommitCheck, seq: UInt64, _ result: CommitResult, _ trouble: Trouble?) {
        checking.remove(check)
        answering = (check.session, seq)
        defer { answering = nil }
        if let trouble {
            feed(.refusedCommit(check.session, check.token, trouble))
        } else {
            feed(.commit(check.session, check.token, result))
        }
        // Lists of blobs to remove are made from here on out of a store that has this turn's writes.
        for digest in result.blobs { removals.settle(digest, mayBeNamed: trouble == nil) }
        releasePostponed()
    }

    /// Why what a result names cannot be used, or `nil`.
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

    /// Puts a message to a worker into the turn.
    func post(_ message: Outgoing, to session: SessionID) {
        guard var wire = wire(message), let (peer, seq, minor) = peers.next(for: session) else { return }
        // A worker of the version before does not know it, and must not be told.
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
            // The fence at work: a worker that was thought dead, or a result that does not count.
            logger.notice(
                "result refused",
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
    /// The scheduler's numbers under these options.
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
    /// The shard, or the files of the package, that it names.
    fileprivate var blobs: [ContentDigest] {
        switch self {
        case .fetch(let digest, _, _): [digest]
        case .merge(let package): package.digests
        }
    }
}
