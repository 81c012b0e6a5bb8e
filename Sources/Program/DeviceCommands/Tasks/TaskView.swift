internal import CommandSupport
import Errors
import Foundation
import OfflineMaps
internal import TextFormats

/// A task as printed.
struct TaskView: Encodable {
    let task: Int64
    let kind: String
    let items: [Item]
    let priority: Int32
    /// `waiting`, `downloading`, `verifying`, `installing`, `removing`, `paused`, `failed`, `done` or `cancelled`.
    let state: String
    /// Why it waits, is paused or has failed, for people.
    let reason: String?
    /// Why it has failed.
    let cause: String?
    let fraction: Double
    /// Bytes that came over the network.
    let transferred: UInt64

    init(_ task: StoreTask) {
        self.task = task.id.number
        kind = task.kind.rawValue
        items = task.items
        priority = task.priority
        let words = task.state.words
        (state, reason) = (words.state, task.failureText ?? words.reason)
        cause = if case .failed(let cause) = task.state { cause.rawValue } else { nil }
        fraction = task.progress.fraction
        transferred = task.progress.transferred
    }
}

extension StoreTask {
    /// What the task does, for people: `install EE`.
    var words: String {
        ([kind.rawValue] + [items.map(\.words).joined(separator: ", ")]).filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Whether it does not continue without a person.
    var needsPerson: Bool {
        switch state {
        case .failed, .paused(.user), .paused(.networkRule), .paused(.quota), .paused(.diskFull): true
        default: false
        }
    }

    /// The error of a command that waits for the task; `nil` while it continues, and when it is done.
    var problem: CLIError? {
        let hint =
            "when the reason is gone: packhorse device retry \(id.number); to give up: packhorse device cancel \(id.number)"
        switch state {
        case .failed(let cause):
            // These texts begin with the cause.
            let saysAll = cause.exitStatus == .noInput || cause == .notAllowed || cause == .badBytes
            let reason = [saysAll && failureText != nil ? nil : cause.words, failureText].compactMap { $0 }.joined(
                separator: ": ")
            return CLIError(cause.exitStatus, "\(words) failed: \(reason)", hint: hint)
        case .paused(.quota(let needed, let allowed)):
            return CLIError(
                .cannotCreate,
                "\(words) is paused: it needs \(Units.bytes(needed)), and the quota is \(Units.bytes(allowed))",
                hint: "remove maps, or raise it with packhorse device quota; then: packhorse device run")
        case .paused(.diskFull(let needed, let free)):
            return CLIError(
                .cannotCreate,
                "\(words) is paused: it needs \(Units.bytes(needed)), and the disk has \(Units.bytes(free))",
                hint: "free the disk; then: packhorse device run")
        case .paused(.user):
            return CLIError(
                .temporary, "\(words) is paused", hint: "packhorse device resume \(id.number)")
        case .paused(.networkRule):
            return CLIError(.temporary, "\(words) is paused: the network rule forbids this network")
        case .cancelled: return CLIError(.temporary, "\(words) was cancelled")
        default: return nil
        }
    }
}

extension TaskState {
    /// The state in one word, and why it waits, is paused or has failed.
    var words: (state: String, reason: String?) {
        switch self {
        case .waiting(let reason): ("waiting", reason.words)
        case .downloading: ("downloading", nil)
        case .verifying: ("verifying", nil)
        case .installing: ("installing", nil)
        case .removing: ("removing", nil)
        case .paused(let reason): ("paused", reason.words)
        case .failed(let cause): ("failed", cause.words)
        case .done: ("done", nil)
        case .cancelled: ("cancelled", nil)
        }
    }
}

extension WaitReason {
    /// The reason for people.
    var words: String {
        switch self {
        case .turn: "its turn"
        case .network: "the network"
        case .backoff(let wait): "the next attempt in \(Units.duration(seconds: wait / .seconds(1)))"
        case .server(let wait): "the server, \(Units.duration(seconds: wait / .seconds(1)))"
        case .otherProcess: "another process"
        }
    }
}

extension PauseReason {
    /// The reason for people.
    var words: String {
        switch self {
        case .user: "by hand"
        case .stopped: "no process works"
        case .suspended: "suspended"
        case .networkRule: "the network rule"
        case .diskFull(let needed, let free):
            "the disk is full: \(Units.bytes(needed)) needed, \(Units.bytes(free)) free"
        case .quota(let needed, let allowed):
            "the quota: \(Units.bytes(needed)) needed, \(Units.bytes(allowed)) allowed"
        }
    }
}
