internal import Foundation
internal import Tiles

/// Does the work of a store: holds the lock, feeds ``StoreMachine`` with what happens, and does its effects.
///
/// While another process holds the lock it only reads, passes requests on, and takes the work over when the lock is
/// free. Everything that belongs to one machine carries the number of its ``life``; what comes from an earlier life is
/// ignored.
actor StoreWorker {
    enum Mode: Sendable {
        /// Without lock and database: before `open`, after `suspend`.
        case closed
        case reader
        case worker
    }

    /// An operation or a removal that runs; it counts as running until it has truly ended, also when it was stopped.
    struct Job {
        var task: Task<Void, Never>
        /// Part files and files that it works on: another job on one of these waits for its end.
        var digests: Set<String>
        /// Single tiles of one pack are added side by side.
        var isTile: Bool
    }

    /// A call that waits for its answer.
    struct Call {
        var request: Request
        var answer: CheckedContinuation<Result<Answer, StoreError>, Never>
    }

    let options: StoreOptions
    nonisolated let folder: StoreFolder
    let shared: StoreShared
    let fetcher: any Fetcher
    let token: CatalogToken
    /// The catalog's own address and its mirrors.
    let servers: CatalogServers
    let planner: Planner
    let pacer = RequestPacer()
    let start = ContinuousClock.now

    var mode = Mode.closed
    var isOpening = false
    /// What the app has started; `nil` before `start` and after `stop`.
    var started: StoreWork?
    var isForcedOffline = false
    var network = NetworkState.free
    var lock: StoreLock?
    var database: StoreDatabase?

    /// The number of the machine.
    var life = 0
    var machine: StoreMachine?
    var jobs: [Int: Job] = [:]
    var jobOf: [OpID: Int] = [:]
    private var nextJob = 1
    var writes: [(id: WriteID, changes: [Change])] = []
    var isWriting = false
    /// How many times in a row the store was opened again because of a write that failed.
    var failedWrites = 0
    /// The rows as the last write left them; those of the machine may be ahead.
    var committedRows = StoreRows()
    /// What the patches of files that are not yet reported as installed have changed.
    var changedTiles: [FileID: TileMask] = [:]
    var candidate: (sequence: UInt64, list: CatalogCandidate)?
    /// The content of the rows; read once.
    var content: CatalogContent? {
        didSet { if let content { servers.setMirrors(content.mirrors) } }
    }
    /// What is answered while the store is suspended.
    var suspended: StoreView?
    var alarm: Task<Void, Never>?

    /// Calls of this process that wait for an answer.
    var calls: [RequestID: Call] = [:]
    var nextCall: Int64 = 1
    /// Requests of other processes that the machine knows.
    var seenRequests: Set<RequestID> = []
    var dataVersion: Int?
    var knownTasks: [TaskID: TaskRecord] = [:]
    /// The list of the rows, as a reader has seen it last.
    var knownSequence: UInt64?
    var watch: Task<Void, Never>?
    var networkWatch: Task<Void, Never>?
    var quietCalls: [CheckedContinuation<Void, Never>] = []
    /// Calls that look again whenever a write or a removal has ended.
    var settleCalls: [CheckedContinuation<Void, Never>] = []
    /// Tasks whose progress has changed since it was kept, tasks of which it was kept, and the next time.
    var changedWork: Set<TaskID> = []
    var keptWork: Set<TaskID> = []
    var workSaving: Task<Void, Never>?
    /// What is at the places of missing files and is not whole: it is read again only when it has changed.
    var notWhole: [FileID: OutsideFileStamp] = [:]
    /// What could not be cleared when the store was opened.
    var leftovers: [Finding] = []

    init(_ options: StoreOptions) throws(StoreError) {
        let folder = StoreFolder(options.folder)
        try folder.make()
        let token = try CatalogToken(options.token)
        let fetcher = TokenFetcher.make(options, token)
        self.token = token
        self.options = options
        self.folder = folder
        self.fetcher = fetcher
        shared = try StoreShared(folder, options, fetcher: fetcher)
        servers = CatalogServers(options.catalog, warn: options.onRefusedAddress)
        planner = Planner(
            folder: folder, fetcher: fetcher, transform: options.transform, defaultStyle: options.defaultStyle,
            servers: servers)
    }

    // MARK: Events and jobs

    /// The time of the machine.
    var now: Instant {
        let past = start.duration(to: .now).components
        return Instant(milliseconds: past.seconds * 1_000 + past.attoseconds / 1_000_000_000_000_000)
    }

    /// Hands an event to the machine and does its effects.
    func process(_ event: Event, life: Int? = nil) {
        guard life ?? self.life == self.life, let effects = machine?.handle(event, now: now) else { return }
        for effect in effects { perform(effect) }
        if let settings = machine?.rows.settings { shared.web.follow(settings) }
        checkQuiet()
    }

    /// Begins work on some files, after all earlier work on them has ended.
    ///
    /// - Parameters:
    ///   - op: The operation; `nil` for work that cannot be stopped.
    ///   - body: Gives the event of the end.
    func begin(
        _ op: OpID?, on digests: Set<String>, isTile: Bool = false,
        _ body: @escaping @Sendable (isolated StoreWorker) async -> Event?
    ) {
        let earlier = jobs.values.filter { !$0.digests.isDisjoint(with: digests) && !($0.isTile && isTile) }
            .map(\.task)
        let (number, life) = (nextJob, life)
        nextJob += 1
        let task = Task {
            for job in earlier { await job.value }
            let event = Task.isCancelled ? nil : await body(self)
            await end(number, op, event: event, life: life)
        }
        jobs[number] = Job(task: task, digests: digests, isTile: isTile)
        if let op { jobOf[op] = number }
    }

    private func end(_ number: Int, _ op: OpID?, event: Event?, life: Int) async {
        let isStopped = life != self.life || op.map { jobOf[$0] != number } ?? false
        if let op, !isStopped { jobOf[op] = nil }
        // A file that was moved to its place stays there, also when the operation was stopped meanwhile.
        if let event, !isStopped || event.isPrepared { process(event, life: life) }
        let digests = jobs[number]?.digests ?? []
        if isStopped, life == self.life { await removeLeftParts(digests) }
        jobs[number] = nil
        checkQuiet()
    }

    /// Removes what a stopped operation has made and the machine does not know.
    private func removeLeftParts(_ digests: Set<String>) async {
        guard let machine else { return }
        for digest in digests where machine.parts[digest] == nil && !machine.wants(digest) {
            await removePart(digest)
        }
    }

    /// Whether an operation has not been stopped.
    func isRunning(_ op: OpID, life: Int) -> Bool { life == self.life && jobOf[op] != nil }

    func stop(_ op: OpID) {
        guard let number = jobOf.removeValue(forKey: op) else { return }
        jobs[number]?.task.cancel()
    }

    /// Whether the machine is idle and no job runs.
    var isQuiet: Bool {
        guard let machine else { return true }
        return machine.run != .running && machine.ops.isEmpty && machine.trash.isEmpty && writes.isEmpty
            && jobs.isEmpty
    }

    func checkQuiet() {
        wakeSettling()
        guard !quietCalls.isEmpty, isQuiet else { return }
        let waiting = quietCalls
        quietCalls = []
        for call in waiting { call.resume() }
    }

    func wakeSettling() {
        let waiting = settleCalls
        settleCalls = []
        for call in waiting { call.resume() }
    }
}

extension Event {
    fileprivate var isPrepared: Bool { if case .prepared = self { true } else { false } }
}
