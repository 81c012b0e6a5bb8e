internal import Tiles

/// Decides everything of the durable task queue: (state, event, now) gives the new state and effects.
///
/// It does no input or output and reads no clock. ``rows`` is what the database has, or will have when all writes are
/// acknowledged; everything else is lost with the process and made again from the rows and the event `opened`.
struct StoreMachine: Sendable {
    enum Run: Sendable { case running, stopped, suspended }

    /// What an operation does; at most one operation works on a file.
    enum Work: Hashable, Sendable {
        case plan, list
        case fetch(Piece, digest: String)
        case verify(Piece)
        case patch(Piece)
        case prepare(Piece)
    }
    struct Op: Hashable, Sendable {
        var task: TaskID
        var work: Work
    }
    struct Wait: Hashable, Sendable {
        var until: Instant
        var reason: WaitReason
    }
    struct Errors: Hashable, Sendable {
        var status: Int
        var count: Int
    }

    static let fileSlots = 2
    static let tileSlots = 8
    /// Equal 5xx without a new byte after which a file is given up.
    static let patience = 8
    static let longestRetryAfter: Int64 = 3_600_000
    /// Space of the disk that is left to others.
    static let diskMargin: UInt64 = 64 << 20
    /// How often a full disk is measured, in milliseconds.
    static let diskInterval: Int64 = 5_000

    private(set) var rows: StoreRows
    let wrong: WrongRules
    var now = Instant(milliseconds: 0)
    var random: JitterRandom
    var run = Run.stopped
    var isOpen = false

    var plans: [TaskID: Plan] = [:]
    var ops: [OpID: Op] = [:]
    /// Sizes of part files.
    var parts: [String: UInt64] = [:]
    /// Part files of which the digest is known to be right.
    var verified: Set<String> = []
    /// Tiles that are in a unit that is being filled.
    var filledTiles: Set<FileID> = []
    /// Files at their place that no row names yet.
    var preparedFiles: [FileID: UInt64] = [:]
    /// What is being removed from the disk.
    var trash: [Trash: UInt64] = [:]
    /// Files of removed rows, until the effects for them are emitted.
    var doomed: [Trash] = []
    var waits: [TaskID: Wait] = [:]
    var tries: [TaskID: Int] = [:]
    var errors: [String: Errors] = [:]
    /// How often a file was found to be wrong.
    var wrongs: [String: Int] = [:]
    /// Digests of patches that are not used any more.
    var badPatches: Set<String> = []
    /// Tasks that wait for a list, because the server did not have their file.
    var awaitedList: [TaskID: TaskID] = [:]
    var hasAskedAgain: Set<TaskID> = []
    var blocked: [TaskID: PauseReason] = [:]
    var fullUntil: [TaskID: Instant] = [:]

    var network = NetworkState.free
    var isForcedOffline = false
    var isOnline = true
    var probeAt = Instant(milliseconds: 0)
    var probes = 0
    var free: UInt64 = 0
    /// When the disk is measured again, while it is too full for a task.
    var measureAt: Instant?

    var nextOp: Int64 = 1
    private var nextWrite: Int64 = 1
    private var changes: [Change] = []
    private var immediate: [Effect] = []
    private var later: [Effect] = []
    private var held: [(id: WriteID, effects: [Effect])] = []
    /// Tasks that a write which is not acknowledged ends.
    var ending: [TaskID: (write: WriteID, record: TaskRecord, end: TaskState)] = [:]
    /// Tasks that no acknowledged write holds.
    var unborn: [TaskID: WriteID] = [:]

    var progress: [TaskID: TaskProgress] = [:]
    var reported: [TaskID: StoreTask] = [:]
    private var lastAlarm: Instant?
    private var isQuiet = false

    /// Continues from the rows of the database.
    init(_ rows: StoreRows, seed: UInt64, wrong: WrongRules = []) {
        self.rows = rows
        self.wrong = wrong
        random = JitterRandom(seed: seed)
    }

    /// Handles one event; equal machines and equal events give equal effects.
    mutating func handle(_ event: Event, now: Instant) -> [Effect] {
        self.now = max(now, self.now)
        accept(event)
        if isOpen {
            schedule()
            sweep()
        }
        report()
        setAlarm()
        return finish()
    }

    private mutating func accept(_ event: Event) {
        switch event {
        case .opened(let parts, let prepared, let free): opened(parts, prepared, free)
        case .start: run = .running
        case .stop: run = .stopped
        case .suspend:
            run = .suspended
            isQuiet = false
        case .asked(let id, let request): asked(id, request)
        case .network(let state): setNetwork(state, forced: isForcedOffline)
        case .forceOffline(let on): setNetwork(network, forced: on)
        case .disk(let free): self.free = free
        case .alarm: lastAlarm = nil
        case .written(let id): written(id)
        case .planned(let op, let answer): planned(op, answer)
        case .listed(let op, let answer): listed(op, answer)
        case .received(let op, let size): received(op, size: size)
        case .fetched(let op): fetched(op)
        case .fetchFailed(let op, let fault): fetchFailed(op, fault)
        case .verified(let op): verified(op)
        case .wrong(let op): wrong(op)
        case .prepared(let op, let file, let bytes): prepared(op, file, bytes)
        case .fileFailed(let op, let isFull): fileFailed(op, isFull: isFull)
        case .gone(let what): trash[what] = nil
        case .unreadable(let file): unreadable(file)
        }
    }

    // MARK: Writes and effects

    mutating func change(_ change: Change) {
        rows.apply(change)
        changes.append(change)
    }

    /// The number of the write that will hold what ``change(_:)`` has collected.
    var thisWrite: WriteID { WriteID(number: nextWrite) }

    /// An effect that waits for the writes before it.
    mutating func then(_ effect: Effect) { later.append(effect) }

    /// An effect that waits for nothing.
    mutating func atOnce(_ effect: Effect) { immediate.append(effect) }

    mutating func begin(_ task: TaskID, _ work: Work) -> OpID {
        let op = OpID(number: nextOp)
        nextOp += 1
        ops[op] = Op(task: task, work: work)
        return op
    }

    /// Ends an operation at once; one that has not been emitted is forgotten.
    mutating func stop(_ op: OpID) {
        ops[op] = nil
        var isEmitted = true
        if let index = immediate.firstIndex(where: { $0.begins == op }) {
            immediate.remove(at: index)
            isEmitted = false
        }
        if let index = later.firstIndex(where: { $0.begins == op }) {
            later.remove(at: index)
            isEmitted = false
        }
        for index in held.indices {
            if let place = held[index].effects.firstIndex(where: { $0.begins == op }) {
                held[index].effects.remove(at: place)
                isEmitted = false
            }
        }
        if isEmitted { atOnce(.stop(op)) }
    }

    private mutating func written(_ id: WriteID) {
        guard let first = held.first, first.id == id else { return }
        held.removeFirst()
        immediate += first.effects
        for (task, end) in ending.sorted(by: { $0.key < $1.key }) where end.write == id { ended(task) }
        for (task, write) in unborn where write == id { unborn[task] = nil }
    }

    private mutating func finish() -> [Effect] {
        if wrong.contains(.hastyEffects) {
            immediate += later
            later = []
        }
        if !changes.isEmpty {
            let id = thisWrite
            nextWrite += 1
            immediate.append(.write(id, changes))
            held.append((id, later))
            changes = []
        } else if held.isEmpty {
            immediate += later
        } else {
            held[held.count - 1].effects += later
        }
        later = []
        defer { immediate = [] }
        let stands = run != .running && ops.isEmpty && held.isEmpty && trash.isEmpty
        if stands && !isQuiet { immediate.append(.quiet) }
        isQuiet = stands
        return immediate
    }

    private mutating func setAlarm() {
        guard !wrong.contains(.forgetsAlarm), run == .running, let next = nextAlarm, next != lastAlarm else { return }
        lastAlarm = next
        atOnce(.alarm(next))
    }

    /// When a waiting time ends next.
    private var nextAlarm: Instant? {
        var times = waits.filter { rows.tasks[$0.key] != nil }.values.map(\.until) + fullUntil.values
        if !isOnline { times.append(probeAt) }
        if let measureAt { times.append(measureAt) }
        return times.filter { $0 > now }.min()
    }
}
