/// Decides everything of the durable task queue: (state, event, now) gives the new state and effects.
///
/// It does no input or output and reads no clock. ``rows`` is what the database has, or will have when all writes are
/// acknowledged; everything else is lost with the process and made again from the rows and the event `opened`.
struct StoreMachine: Sendable {
    enum Run: Sendable {
        /// All tasks, or only those that read the list.
        case running, reading
        case stopped, suspended

        var isOn: Bool { self == .running || self == .reading }
    }

    /// What an operation does; at most one operation works on a file.
    enum Work: Hashable, Sendable {
        case plan, list
        case fetch(DownloadItem, digest: String)
        case verify(DownloadItem)
        case patch(DownloadItem)
        case prepare(DownloadItem)
    }
    struct Op: Hashable, Sendable {
        var task: TaskID
        var work: Work
        /// For a plan: what was being removed from the disk while it was made.
        var removed: Set<Trash> = []
    }
    struct Wait: Hashable, Sendable {
        var until: Instant
        var reason: WaitReason
    }
    struct Errors: Hashable, Sendable {
        var status: Int
        var count: Int
    }
    /// The end of a task whose write is not acknowledged.
    struct Ending: Sendable {
        var write: WriteID
        var record: TaskRecord
        var end: TaskState
    }

    static let fileSlots = 2
    static let tileSlots = 8
    /// Equal 5xx without a new byte after which a file is given up.
    static let patience = 8
    /// For how long a list is tried, in milliseconds: as long as a server that says nothing.
    ///
    /// Calls wait for it, and there may be a list of before.
    static let listPatience: Int64 = 30_000
    /// Space of the disk that is left to others.
    static let diskMargin: UInt64 = 64 << 20
    /// Space that a step needs besides the bytes of its file: folders, and its unit file.
    static let stepBytes: UInt64 = 1 << 20
    /// How often a full disk is measured, in milliseconds.
    static let diskInterval: Int64 = 5_000

    // Extensions change the rows only by `change(_:)`.
    var rows: StoreRows
    let rules: StoreRules
    var now = Instant(milliseconds: 0)
    var random: JitterRandom
    var run = Run.stopped
    var isOpen = false
    var hasStarted = false

    var plans = PlanTable()
    /// What an earlier process has kept of tasks that have no plan yet.
    var works: [TaskID: TaskWork] = [:]
    var ops = OpTable()
    /// The tasks in the order of their turns; `nil` when it has to be made again.
    var turns: [TaskID]?

    // What is on the disk: changed only by the functions of StoreMachine+Steps.
    /// Sizes of part files.
    var parts: [String: UInt64] = [:]
    /// Part files of which the digest is known to be right.
    var verified: Set<String> = []
    /// Tiles that are in the part file of a pack, by the digest of the pack.
    var filledTiles: [String: Set<String>] = [:]
    /// Files at their place that no row names yet.
    var preparedFiles: [FileID: InstalledFile] = [:]
    /// What is being removed from the disk.
    var trash: [Trash: UInt64] = [:]

    /// Files of removed rows, until the effects for them are emitted.
    var pendingDeletions: [InstalledFile] = []
    /// What was being removed while a plan was made that counts on it; the task is planned again when it is gone.
    var replanAfter: [TaskID: Set<Trash>] = [:]
    /// Tasks that had a plan: an item that they lack now has left the catalog.
    var hadPlan: Set<TaskID> = []
    /// When downloaded files expire, as their servers said.
    var expiries: [FileID: Int64] = [:]
    /// Waits after failed tries; a connection that is found ends them.
    var backoffs: [TaskID: Wait] = [:]
    /// Waits that servers asked for.
    var serverWaits: [TaskID: Wait] = [:]
    var tries: [TaskID: Int] = [:]
    var errors: [String: Errors] = [:]
    /// When the server was first asked for the list of a task.
    var askedAt: [TaskID: Instant] = [:]
    /// How often a file was found to be wrong.
    var wrongs: [String: Int] = [:]
    /// How often a patch has failed.
    var patchFailures: [String: Int] = [:]
    /// Tasks that wait for a list, because the server did not have their file.
    var awaitedList: [TaskID: TaskID] = [:]
    var hasAskedAgain: Set<TaskID> = []
    var blocked: [TaskID: PauseReason] = [:]
    var fullUntil: [TaskID: Instant] = [:]
    /// What the disk said last when it failed.
    var diskTexts: [TaskID: String] = [:]

    var network = NetworkState.free
    var isForcedOffline = false
    var isOnline = true
    var probeAt = Instant(milliseconds: 0)
    var probes = 0
    var free: UInt64 = 0
    /// When the disk is measured again, while it is too full for a task.
    var measureAt: Instant?

    // Effects, see StoreMachine+Effects.
    var nextOp: Int64 = 1
    var nextWrite: Int64 = 1
    var changes: [Change] = []
    var immediate: [Effect] = []
    var later: [Effect] = []
    var held: [(id: WriteID, effects: [Effect])] = []
    /// Tasks that a write which is not acknowledged ends.
    var ending: [TaskID: Ending] = [:]
    /// Tasks that no acknowledged write holds.
    var uncommittedTasks: [TaskID: WriteID] = [:]
    var progress: [TaskID: TaskProgress] = [:]
    var reported: [TaskID: StoreTask] = [:]
    var lastAlarm: Instant?
    var isQuiet = false

    /// Continues from the rows of the database.
    init(_ rows: StoreRows, seed: UInt64, rules: StoreRules = StoreRules()) {
        self.rows = rows
        self.rules = rules
        random = JitterRandom(seed: seed)
    }

    /// Handles one event; equal machines and equal events give equal effects.
    mutating func handle(_ event: Event, now: Instant) -> [Effect] {
        self.now = max(now, self.now)
        accept(event)
        if isOpen {
            schedule()
            // Requests that come before `start` may adopt what lies on the disk.
            if hasStarted { sweep() }
        }
        report()
        setAlarm()
        return finish()
    }

    private mutating func accept(_ event: Event) {
        switch event {
        case .opened(let parts, let prepared, let free): opened(parts: parts, prepared: prepared, free: free)
        case .start:
            run = .running
            hasStarted = true
        case .startReading: if !run.isOn { run = .reading }
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
        case .planned(let op, let answer, let text): planned(op, answer, text: text)
        case .listed(let op, let answer): listed(op, answer)
        case .received(let op, let size): received(op, size: size)
        case .fetched(let op, let expires): fetched(op, expires: expires)
        case .fetchFailed(let op, let fault): fetchFailed(op, fault)
        case .verified(let op): verified(op)
        case .wrong(let op): wrong(op)
        case .prepared(let op, let file): prepared(op, file)
        case .fileFailed(let op, let isFull, let text): fileFailed(op, isFull: isFull, text: text)
        case .gone(let what): gone(what)
        case .damaged(let file): damaged(file)
        case .givesWay(let file): givesWay(file)
        case .lost(let file): lost(file)
        case .returned(let file): returned(file)
        case .used(let times): used(times)
        }
    }
}
