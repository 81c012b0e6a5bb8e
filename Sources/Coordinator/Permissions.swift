import Foundation
import Wire
import ZeroMQ

/// The role that a message needs.
///
/// It is checked for every frame, so that a changed key file affects open connections.
enum Permissions {
    /// Each of these roles allows the message.
    static func needed(_ type: MessageType) -> PeerRoles {
        switch type {
        case .hello, .ready, .progress, .commit, .fail, .return, .bye: [.worker, .merger]
        case .putBegin, .have, .chunk, .putEnd, .stored, .get, .blobSize, .blobRefused: [.worker, .merger]
        case .ping: .all
        case .listJobs, .getJob, .listWorkers, .listDead, .listSchedules, .listOrigins, .getEvents:
            [.operator, .viewer]
        case .submit, .cancelJob, .jobOrder, .deadOrder, .putSchedule, .dropSchedule, .backup, .drainWorker,
            .originOrder:
            .operator
        // Messages that only a coordinator sends are refused from every sender.
        case .welcome, .reject, .offer, .pong, .ack, .stale, .unknownSession, .rateGrants, .submitted, .jobs,
            .jobStatus, .done, .workers, .health, .problem, .deadLetters, .ordered, .schedules, .origins, .events,
            .backedUp:
            .all
        }
    }

    /// The roles of which the message needs one, if `roles` has none of them; `nil` when the message is allowed.
    static func missing(_ message: Message, _ roles: PeerRoles) -> PeerRoles? {
        var needed = needed(message.type)
        if case .commit(let body) = message {
            if case .fetch = body.result { needed = .worker }
            if case .merge = body.result { needed = .merger }
        }
        return roles.isDisjoint(with: needed) ? needed : nil
    }

    /// The answer to a refused peer.
    static func refusal(of type: MessageType, needing needed: PeerRoles, _ inbound: Inbound) -> (
        text: String, hint: String
    ) {
        let name = inbound.user ?? "?"
        let wanted = needed.description.replacingOccurrences(of: " ", with: " or ")
        return (
            "The key '\(name)' has the role \(inbound.roles.description.replacingOccurrences(of: " ", with: ", "));"
                + " a \(type) message needs the role \(wanted).",
            "on the coordinator's machine, add the role to the line 'roles:' of authorized_keys.d/\(name).pub"
        )
    }

    /// The answer to a refused message of the blob endpoint; `nil` when it names no blob.
    static func refusal(of message: Message, _ inbound: Inbound) -> Message? {
        let digest: Data
        switch message {
        case .putBegin(let body): digest = body.digest
        case .chunk(let body): digest = body.digest
        case .putEnd(let body): digest = body.digest
        case .get(let body): digest = body.digest
        default: return nil
        }
        return .blobRefused(
            .make {
                $0.digest = digest
                $0.code = "forbidden"
                $0.text = refusal(of: message.type, needing: needed(message.type), inbound).text
            })
    }
}
