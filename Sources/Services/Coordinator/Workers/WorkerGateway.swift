import Digests
import Foundation
import Logging
import Scheduling
import Telemetry
import Tiles
import Wire
import ZeroMQ

/// A frame of a worker that is being answered.
struct WorkerRequest: Sendable {
    let session: SessionID
    let seq: UInt64
}

/// What a frame of a worker leads to.
enum WorkerEffect {
    /// The scheduler must handle this. Messages to the session answer the request.
    case apply(Event, WorkerRequest)
    case send(OutboundFrame)
    /// The blob store must be asked before the scheduler sees the result.
    case check(PBCommit, WorkerRequest)
}

/// The connections of workers: what their frames mean, and how messages to them are numbered.
///
/// It decides nothing about work. See ``WorkerEffect``.
struct WorkerGateway {
    private let environment: LoopEnvironment
    private var peers = Peers()
    /// The last frame received from each session: credit grants count from there.
    private var lastReceived: [SessionID: UInt64] = [:]

    init(_ environment: LoopEnvironment) { self.environment = environment }

    // MARK: - Any frame

    /// Whether frames of the peer are dropped without decoding.
    mutating func isIgnored(_ peer: PeerID) -> Bool { peers.isIgnored(peer, now: environment.now) }

    /// Counts a malformed frame against its peer.
    mutating func strike(_ inbound: Inbound, _ why: String) {
        let isIgnored = peers.strike(inbound.peer, now: environment.now)
        if isIgnored { environment.router.cut([inbound.peer]) }
        environment.logger.info(
            isIgnored ? "Peer disconnected after three bad frames" : "Frame refused",
            metadata: [LogKey.peerUser: "\(inbound.user ?? "-")", LogKey.errorMessage: "\(why)"])
    }

    // MARK: - Frames of workers

    /// Handles a frame of the work endpoint.
    mutating func receive(_ frame: Frame, inbound: Inbound, scheduler: Scheduler) -> [WorkerEffect] {
        guard !WrongEndpoint.isFromCommand(frame.message.type) else { return redirect(frame, inbound: inbound) }
        let id = SessionID(frame.session)
        guard peers.setConnection(of: id, to: inbound.peer, user: inbound.user) else {
            strike(inbound, "the session belongs to another key")
            return []
        }
        var effects: [WorkerEffect] = []
        // The roles of a key are part of the worker's profile. After a change the worker must send a new hello.
        if peers.haveChanged(inbound.roles, of: id), scheduler.knows(id) {
            effects += send(.unknownSession(PBUnknownSession()), to: id, re: 0)
        }
        forgetSessions(scheduler)
        lastReceived[id] = frame.seq
        let request = WorkerRequest(session: id, seq: frame.seq)
        switch frame.message {
        case .hello(let body): effects += hello(body, request: request, inbound: inbound, scheduler: scheduler)
        case .ready(let body):
            let full = VisibleText.escaped(String(body.full.prefix(200)))
            effects.append(
                .apply(.ready(id, credit: body.credit, mergeCredit: body.mergeCredit, full: full), request))
        case .progress(let body): effects.append(.apply(Self.progress(body, of: id), request))
        case .commit(let body): effects.append(.check(body, request))
        case .fail(let body): effects.append(.apply(failure(body, of: id), request))
        case .return(let body):
            effects.append(.apply(.giveBack(id, body.tokens.map { LeaseToken($0) }), request))
        case .bye: effects.append(.apply(.bye(id), request))
        default: strike(inbound, "a \(frame.message.type) message does not belong on the work endpoint")
        }
        return effects
    }

    /// Tells a command where it has to connect.
    private mutating func redirect(_ frame: Frame, inbound: Inbound) -> [WorkerEffect] {
        strike(inbound, "a \(frame.message.type) message does not belong on the work endpoint")
        let answer = WrongEndpoint.answer(
            at: "workers", control: environment.router.boundEndpoints[CoordinatorLoop.control])
        let session = SessionID(frame.session)
        let sent = environment.frame(answer, to: inbound.peer, session: session, re: frame.seq)
        return sent.map { [.send($0)] } ?? []
    }

    /// Keeps the tables near the number of known sessions.
    private mutating func forgetSessions(_ scheduler: Scheduler) {
        let most = 2 * scheduler.sessionCount + 256
        if peers.count > most { peers.prune(scheduler.knows) }
        if lastReceived.count > most { lastReceived = lastReceived.filter { scheduler.knows($0.key) } }
    }

    private mutating func hello(
        _ body: PBHello, request: WorkerRequest, inbound: Inbound, scheduler: Scheduler
    ) -> [WorkerEffect] {
        let admission = WorkerAdmission(environment: environment, hello: body)
        if let refusal = admission.refusal ?? admission.refusalWhenFull(request.session, scheduler) {
            return reject(refusal, peer: inbound.peer, request: request)
        }
        peers.setMinor(admission.minor, of: request.session)
        let held = body.held.map { LeaseToken($0.token) }
        environment.logger.info(
            "Worker connected",
            metadata: [
                LogKey.worker: "\(body.name)", LogKey.session: "\(request.session)", LogKey.leases: "\(held.count)",
            ])
        let profile = admission.profile(roles: inbound.roles, scheduler)
        return [.apply(.hello(request.session, profile, held: held), request)]
    }

    private static func progress(_ body: PBProgress, of id: SessionID) -> Event {
        .progress(
            id, body.leases.map { LeaseProgress(token: LeaseToken($0.token), done: $0.done, bytes: $0.bytes) },
            origins: body.origins.map(WireConversions.use), acknowledged: body.grants, namesHeld: body.namesHeld)
    }

    private func failure(_ body: PBFail, of id: SessionID) -> Event {
        environment.logger.info(
            "Attempt failed",
            metadata: [
                LogKey.session: "\(id)", LogKey.token: "\(body.token)", LogKey.errorCode: "\(body.cause)",
                LogKey.errorMessage: "\(body.detail)",
            ])
        return .fail(
            id, LeaseToken(body.token), .reported(cause: body.cause, detail: body.detail), retriable: body.retriable,
            lostShards: body.lostShards.compactMap(Digest.init(bytes:)))
    }

    /// Handles a frame that the key of a worker does not permit: its leases go to other workers.
    mutating func forbid(_ body: PBReject, frame: Frame, inbound: Inbound) -> [WorkerEffect] {
        let id = SessionID(frame.session)
        let request = WorkerRequest(session: id, seq: frame.seq)
        let isOwn = peers.setConnection(of: id, to: inbound.peer, user: inbound.user)
        return (isOwn ? [.apply(.bye(id), request)] : []) + reject(body, peer: inbound.peer, request: request)
    }

    private func reject(_ body: PBReject, peer: PeerID, request: WorkerRequest) -> [WorkerEffect] {
        environment.logger.warning(
            "Worker rejected", metadata: [LogKey.errorCode: "\(body.code)", LogKey.errorMessage: "\(body.text)"])
        let frame = environment.frame(.reject(body), to: peer, session: request.session, re: request.seq)
        return frame.map { [.send($0)] } ?? []
    }

    // MARK: - Messages to workers

    /// The frame of a message to a worker, or `nil` when the session is unknown.
    ///
    /// - Parameter request: The frame that is being answered; `nil` = the message is no answer.
    mutating func frame(
        _ message: Outgoing, to session: SessionID, answering request: WorkerRequest?, scheduler: Scheduler,
        jobs: JobRegistry
    ) -> OutboundFrame? {
        // Lost grants are repeated by the answers to the next reports.
        if case .grants = message, !environment.tenure.mayGrant { return nil }
        guard var wire = WorkerMessages(environment: environment).message(message, jobs) else { return nil }
        guard let (peer, seq, minor) = peers.next(for: session) else { return nil }
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
            environment.logger.notice(
                "Result refused",
                metadata: [
                    LogKey.session: "\(session)", LogKey.token: "\(token.rawValue)", LogKey.errorCode: "\(reason)",
                ])
        }
        var re = request?.session == session ? request?.seq ?? 0 : 0
        if case .grants = message { re = lastReceived[session] ?? 0 }
        // A worker of an older version may not know this message.
        guard wire.type.minor <= minor else { return nil }
        guard let bytes = environment.encode(wire, session: session, seq: seq, re: re, minor: minor) else { return nil }
        var frame = OutboundFrame(peer: peer, bytes: bytes)
        if case .offer(let offer) = message { frame.offer = (session, offer.token) }
        return frame
    }

    private mutating func send(_ message: Message, to session: SessionID, re: UInt64) -> [WorkerEffect] {
        guard let (peer, seq, minor) = peers.next(for: session),
            let bytes = environment.encode(message, session: session, seq: seq, re: re, minor: minor)
        else { return [] }
        return [.send(OutboundFrame(peer: peer, bytes: bytes))]
    }
}
