@testable import OfflineMaps

/// The properties that hold at every moment of a world.
struct SimChecks {
    /// Bytes that the server sent for a part file.
    var sent: [String: UInt64] = [:]
    var target: [String: UInt64] = [:]
    /// Bytes that have to be sent again: lost in a crash, removed, or sent again by the server.
    var credit: [String: UInt64] = [:]
    /// Packs of which the server has refused a tile.
    var refusedFiles: Set<InstalledFileKey> = []
    /// When a download of a part file began last.
    var lastFetch: [String: Int64] = [:]
    /// Removals that are under way.
    var discards = 0
    /// The last reported progress of this process.
    var progress: [TaskID: TaskProgress] = [:]
    var isOnline = true
    /// Until when the server asked a task to wait.
    var notBefore: [TaskID: Int64] = [:]
    /// Until when a task that met a full disk tries no step on its files.
    var noStepBefore: [TaskID: Int64] = [:]

    mutating func newLife() {
        progress = [:]
        isOnline = true
        discards = 0
        notBefore = [:]
        noStepBefore = [:]
    }

    /// The task resets its attempt counters: a person retries it.
    mutating func forgetWaits(of task: TaskID) {
        notBefore[task] = nil
        noStepBefore[task] = nil
    }

    /// No byte is downloaded twice without need.
    func twice(_ digest: String) -> String? {
        let sent = sent[digest] ?? 0
        let allowed = (target[digest] ?? 0) + (credit[digest] ?? 0)
        return sent > allowed ? "\(digest): \(sent) bytes were sent, \(allowed) were needed" : nil
    }

    /// The quota is respected.
    func space(_ world: SimWorld) -> String? {
        guard let quota = world.disk.rows.settings.quota.bytes, world.disk.used > quota else { return nil }
        // A caller puts files at their places before it asks; what is refused or evicted for them is gone soon after.
        if !world.adopting.isEmpty || world.now - world.lastAdoption < 600 { return nil }
        return "\(world.disk.used) bytes are on disk, the quota is \(quota)"
    }

    /// Nothing is requested while paused, stopped or offline, nor for a task that has ended.
    func afterEffects(_ world: SimWorld) -> String? {
        guard let machine = world.machine else { return nil }
        for op in world.ops.values where op.usesNetwork {
            guard let task = machine.rows.tasks[op.task] else {
                return "a request runs for the ended task \(op.task.number)"
            }
            if machine.ops[op.id] == nil { return "a request runs that the machine has forgotten" }
            if task.failure != nil { return "a request runs for the failed task \(task.id.number)" }
            if task.rule.priority < 0 { return "a request runs for the paused task \(task.id.number)" }
            if machine.run != .running { return "a request runs in a store that stands" }
            if machine.network == .none || machine.isForcedOffline { return "a request runs without a network" }
            let rule = machine.rows.settings.networkRule
            if rule == .none || rule == .notExpensive && machine.network == .expensive {
                return "a request runs that the network rule forbids"
            }
        }
        let files = world.ops.values.filter {
            if case .fetch(let download, _, _) = $0.kind { !download.isTile } else { false }
        }
        return files.count > StoreMachine.fileSlots ? "\(files.count) files are downloaded at once" : nil
    }

    /// What is answered is durable.
    func answer(_ id: RequestID, _ answer: Answer, _ disk: SimDisk) -> String? {
        if disk.inbox.contains(where: { $0.id == id }) {
            return "request \(id.number) was answered before it was durable"
        }
        if case .task(let task) = answer, disk.rows.settings.nextTask <= task.number {
            return "task \(task.number) was answered before it was durable"
        }
        return nil
    }

    /// Progress never falls and never exceeds what is required; the connection is lost and found in turns.
    mutating func report(_ event: StoreEvent) -> String? {
        switch event {
        case .connectionLost, .connectionFound:
            let online = if case .connectionFound = event { true } else { false }
            defer { isOnline = online }
            return online == isOnline ? "connectionLost and connectionFound do not alternate" : nil
        case .task(let task):
            let new = task.progress
            let old = progress[task.id] ?? TaskProgress()
            progress[task.id] = new
            for (now, before) in [(new.packs, old.packs), (new.resources, old.resources), (new.tiles, old.tiles)] {
                if now.completed > now.required { return "task \(task.id.number): completed exceeds required" }
                if now.completed < before.completed || now.bytes < before.bytes {
                    return "task \(task.id.number): progress falls"
                }
            }
            if new.fraction < old.fraction || new.fraction > 1 {
                return "task \(task.id.number): the fraction goes from \(old.fraction) to \(new.fraction)"
            }
            if task.state == .done && new.fraction != 1 { return "task \(task.id.number) is done at \(new.fraction)" }
            return nil
        default: return nil
        }
    }
}
