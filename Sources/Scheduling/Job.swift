import HeapModule

/// A job in memory.
struct Job: Sendable {
    var summary: JobSummary
    var batches: [Batch]
    var packages: [Package]
    /// Indices of ready batches, lowest first.
    var ready: Heap<Int> = []
    /// Its place in the rotation: rises by tiles granted over weight.
    var pass: UInt64 = 0
    /// Whether an entry of the rotation names it.
    var isQueued = false
    /// Tells that entry from older ones.
    var ticket: UInt32 = 0
    /// How long the last accepted batches of this incarnation took.
    ///
    /// Milliseconds.
    var durations: [Int64] = []
    /// Batches that were cut.
    var cuts = 0
    /// Failed tiles listed so far.
    var listed = 0
    /// Tokens of leases that ended without an accepted commit, so that a late commit can be traced to the job.
    var lost: [LeaseToken] = []
    /// Whether only a stub is left.
    var isForgotten = false
    /// The first failure, for the reason of a job that fails.
    var firstTrouble: String?
    /// Whose budget its requests draw from.
    let origin: JobOrigin?
    /// Which batches each package waits for.
    var needs: PackageNeeds
    /// Jobs of one tileset share what they fetch.
    let tileset: ContentDigest?
    /// See ``JobSubmission/formats``.
    let formats: [[String]]
    /// The cells of the batches, to find those that overlap another job's.
    var cells = CellRuns()
    /// Ready batches that wait because another job fetches some of their tiles at this moment.
    var parked: Set<Int> = []
    /// Tokens of its leases.
    var leased: Set<LeaseToken> = []
    /// Sessions that said that they lack what the job asks for, such as a secret; forgotten with the incarnation.
    var unable: Set<SessionID> = []

    init(_ stored: StoredJob) {
        summary = stored.summary
        batches = stored.batches
        packages = stored.packages
        origin = stored.origin
        tileset = stored.tileset
        formats = stored.formats
        needs = PackageNeeds(packages: packages.count, batches: batches.count)
        guard !summary.state.isFinal else {
            batches = []
            return
        }
        takeUp(stored.needs)
        cuts = batches.count { $0.state == .split }
    }

    /// To be called when it begins to stand still, or has stood still.
    mutating func noteRest() {
        if batches.contains(where: { $0.digest != nil || $0.partial != nil }) { summary.hasRested = true }
    }

    /// Makes everything that follows from the batches anew.
    mutating func takeUp(_ known: PackageNeeds?) {
        recount()
        cuts = 0
        let isRight = known?.batches == batches.count && known?.packages == packages.count
        needs = (isRight ? known : nil) ?? PackageNeeds(packages: packages.count, batches: batches.count)
        needs.recount { batches[$0].state.isSettled }
        listed = Int(clamping: summary.counts.failed)
        ready = Heap(batches.indices.filter { batches[$0].state == .ready })
        parked = []
        unable = []
        cells = CellRuns()
        firstTrouble = nil
    }

    /// The numbers anew from the batches.
    mutating func recount() { summary.counts = counted() }

    /// The numbers as the batches have them; `inFlightDone` is the leases' and stays 0.
    func counted() -> JobCounts {
        var counts = JobCounts()
        for batch in batches {
            counts[batch.state] += 1
            if batch.state == .split { continue }
            counts.tiles += batch.tiles
            switch batch.state {
            case .done: counts.book(batch.result)
            case .dead: counts.failed += batch.tiles
            case .ready, .leased, .backoff, .split: break
            }
        }
        return counts
    }

    /// Moves a batch to another state, keeping numbers and queue.
    mutating func move(_ index: Int, to state: BatchState) {
        let wasSettled = batches[index].state.isSettled
        summary.counts[batches[index].state] -= 1
        summary.counts[state] += 1
        batches[index].state = state
        if state != .leased { batches[index].owner = 0 }
        if state.isSettled != wasSettled { needs.note(index, isSettled: state.isSettled) }
        parked.remove(index)
        if state == .ready { ready.insert(index) }
    }

    /// The first ready batch, or `nil`.
    mutating func popReady() -> Int? {
        while let index = ready.popMin() {
            if batches[index].state == .ready, !parked.contains(index) { return index }
        }
        return nil
    }

    /// The first ready batch, left in the queue, or `nil`.
    mutating func firstReady() -> Int? {
        while let index = ready.min {
            if batches[index].state == .ready, !parked.contains(index) { return index }
            ready.removeMin()
        }
        return nil
    }

    /// The formats that a package is to have beside its own, ascending.
    func formats(of package: Int) -> [String] { formats.indices.contains(package) ? formats[package] : [] }

    /// Whether a batch could be granted.
    var hasReadyWork: Bool { summary.counts[.ready] > UInt64(parked.count) }

    var hasEndedFetching: Bool {
        summary.counts[.ready] + summary.counts[.leased] + summary.counts[.backoff] == 0
    }

    /// Whether more tiles are missing than the job's policy allows.
    var lacksTooMuch: Bool {
        Double(summary.counts.failed) > summary.allowedMissing * Double(summary.counts.tiles)
    }
}
