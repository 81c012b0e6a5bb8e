import Logging
import Scheduling
import Telemetry
import Wire
import ZeroMQ

extension CoordinatorEngine {
    /// Whether the peer's key has the role that the message needs.
    ///
    /// A refused peer is told which role is missing.
    func permits(_ frame: Frame, _ inbound: Inbound) -> Bool {
        guard let needed = Permissions.missing(frame.message, inbound.roles) else { return true }
        let type = frame.message.type
        let (text, hint) = Permissions.refusal(of: type, needing: needed, inbound)
        logger.notice(
            "Message forbidden",
            metadata: [
                "packhorse.peer.user": "\(inbound.user ?? "-")", "packhorse.message": "\(type)",
                LogKey.errorMessage: "\(text)",
            ])
        if inbound.endpointIndex == Self.control {
            reply(
                WireConversions.problem("forbidden", text, hint: hint),
                to: Asker(peer: inbound.peer, session: frame.session, seq: frame.seq))
        } else {
            // The worker has lost its permission: its leases go to other workers.
            if peers.note(frame.session, at: inbound.peer, user: inbound.user) {
                take(scheduler.handle(.bye(frame.session), now: now))
            }
            let body = PBReject.make {
                $0.code = "forbidden"
                $0.text = "\(text) \(hint.prefix(1).uppercased() + hint.dropFirst())."
            }
            reject(body, inbound.peer, frame)
        }
        return false
    }

    /// Asks workers to finish and leave, or cancels that request.
    ///
    /// Applies to all workers with this name or pid@host.
    func drain(_ body: PBDrainWorker, _ asker: Asker) {
        let meant = scheduler.workers(now: now).filter {
            $0.profile.name == body.name || "\($0.profile.processID)@\($0.profile.host)" == body.name
        }
        guard !meant.isEmpty else {
            reply(
                WireConversions.problem(
                    "unknown-worker", "No worker is called '\(body.name.prefix(128))'.",
                    hint: "packhorse workers lists them"), to: asker)
            return
        }
        for worker in meant { take(scheduler.handle(.drain(worker.session, isOn: !body.undo), now: now)) }
        logger.notice(
            body.undo ? "Workers stay" : "Workers drain",
            metadata: [LogKey.worker: "\(body.name)", "packhorse.workers": "\(meant.count)"])
        let leases = meant.reduce(0) { $0 + $1.leases }
        reply(
            .ordered(
                .make {
                    $0.changed = UInt64(meant.count)
                    $0.text = body.undo ? "stays" : leases == 0 ? "leaves" : "leaves after \(leases) leases"
                }), to: asker)
    }
}
