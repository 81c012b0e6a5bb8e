/// How far several tasks are, as one: a value without clock or store.
struct DownloadWatch {
    private struct Part {
        var name: String
        var bytes: UInt64
        var fraction = 0.0
        var transferred: UInt64 = 0
        var state = TaskState.waiting(.turn)
        var text: String?
    }

    private var parts: [(task: TaskID, part: Part)] = []
    /// The bytes of what was complete from the begin.
    private var complete: UInt64 = 0

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - bytes: The size of its files: its share of the whole progress.
    ///   - task: The task that brings it; several items can have one task. `nil` when nothing is to do.
    mutating func add(_ item: Item, bytes: UInt64, task: TaskID?) {
        // Sums of sizes that a catalog says stay far from the limit of the type.
        let bytes = min(max(bytes, 1), 1 << 48)
        guard let task else {
            complete += bytes
            return
        }
        if let index = parts.firstIndex(where: { $0.task == task }) {
            parts[index].part.bytes += bytes
            parts[index].part.name += ", \(item.identifier)"
        } else {
            parts.append((task, Part(name: item.identifier, bytes: bytes)))
        }
    }

    /// Whether a task is one of those that were added.
    func wants(_ task: StoreTask) -> Bool { parts.contains { $0.task == task.id } }

    /// Takes over where a task is.
    mutating func take(_ task: StoreTask) {
        guard let index = parts.firstIndex(where: { $0.task == task.id }), !parts[index].part.state.isOver else {
            return
        }
        var part = parts[index].part
        part.fraction = task.state == .done ? 1 : max(part.fraction, min(1, task.progress.fraction))
        part.transferred = max(part.transferred, task.progress.transferred)
        (part.state, part.text) = (task.state, task.failureText)
        parts[index].part = part
    }

    /// The progress of all.
    var progress: DownloadProgress {
        let open = parts.map(\.part).filter { $0.state != .done }
        let all = Double(complete) + parts.reduce(0) { $0 + Double($1.part.bytes) }
        let done = Double(complete) + parts.reduce(0) { $0 + Double($1.part.bytes) * $1.part.fraction }
        return DownloadProgress(
            fraction: open.isEmpty ? 1 : min(1, done / all),
            transferred: parts.reduce(0) { $0 &+ $1.part.transferred }, state: Self.state(of: open.map(\.state)))
    }

    /// The state of all: a part that downloads counts first, then one whose bytes are not there; what is only
    /// verified or installed counts when nothing else is open.
    private static func state(of open: [TaskState]) -> TaskState {
        guard let first = open.min(by: { $0.rank < $1.rank }) else { return .done }
        guard case .paused(.diskFull(_, let free)) = first else { return first }
        // The reserve counts once.
        let margin = StoreMachine.diskMargin
        let needs = open.compactMap { state in
            if case .paused(.diskFull(let needed, _)) = state { min(needed, 1 << 48) } else { nil }
        }
        let sum = needs.reduce(0) { $0 + ($1 > margin ? $1 - margin : $1) }
        return .paused(.diskFull(needed: needs.contains { $0 > margin } ? sum + margin : sum, free: free))
    }

    /// Why it cannot become complete; `nil` while it can.
    var failure: StoreError? {
        for (_, part) in parts {
            switch part.state {
            case .failed(let cause):
                // Other texts are sentences, with their remedy.
                if let text = part.text, ![.notFound, .notAllowed, .badBytes].contains(cause) {
                    return .failing(cause, text)
                }
                return .failing(
                    cause, "The download of '\(part.name)' failed: \(part.text ?? cause.words).",
                    advice: part.text == nil ? "Call download again to try again." : "Then call download again.")
            case .cancelled:
                return StoreError(.wrongState, "The download of '\(part.name)' was cancelled by another call.")
            default: continue
            }
        }
        return nil
    }
}

extension TaskState {
    /// Which of several states is that of all.
    fileprivate var rank: Int {
        switch self {
        case .downloading: 0
        case .paused(.diskFull), .paused(.quota): 1
        case .waiting, .paused, .removing, .failed, .cancelled: 2
        case .verifying: 3
        case .installing: 4
        case .done: 5
        }
    }
}
