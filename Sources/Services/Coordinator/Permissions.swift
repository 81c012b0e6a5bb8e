import Foundation
import Wire
import ZeroMQ

/// The role that a message needs; packhorse.proto states it for each message.
///
/// It is checked for every frame, so that a changed key file affects open connections.
enum Permissions {
    /// Each of these roles allows the message.
    static func needed(_ type: MessageType) -> PeerRoles {
        switch type.role {
        case .worker: [.worker, .merger]
        case .viewer: [.operator, .viewer]
        case .operator: .operator
        case .any: .all
        // The coordinator refuses these from every sender, whatever its role.
        case .coordinator: .all
        }
    }

    /// The roles of which the message needs one, if `roles` has none of them; `nil` when the message is allowed.
    static func missing(_ message: Message, _ roles: PeerRoles) -> PeerRoles? {
        var needed = needed(message.type)
        if case .commit(let body) = message {
            switch body.result {
            case .fetch: needed = .worker
            case .merge: needed = .merger
            case nil: break
            }
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
        // All other messages name no blob. They are refused without an answer.
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
