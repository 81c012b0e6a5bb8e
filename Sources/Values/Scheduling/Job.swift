import Digests
import HeapModule

/// The batches of a job.
typealias Batches = PlacedList<BatchIndex, Batch>

/// The packages of a job.
typealias Packages = PlacedList<PackageIndex, Package>

/// A job in memory.
struct Job: Sendable {
    var summary: JobSummary
    var batches: Batches
    var packages: Packages
    /// Indices of ready batches, lowest first.
    var ready: Heap<BatchIndex> = []
    /// Its position in the fair queue: rises by granted tiles divided by weight.
    var pass: UInt64 = 0
    /// Whether an entry of the fair queue names it.
    var isQueued = false
    /// Distinguishes that entry from older ones.
    var ticket: UInt32 = 0
    /// The durations of the last batches accepted by this run.
    ///
    /// Milliseconds.
    var durations: [Int64] = []
    /// Number of batches that were split after they failed.
    var cuts = 0
    /// Whether its ranges are planned before they are fetched.
    private(set) var isPlanned = false
    /// Failed tiles listed so far.
    var listed = 0
    /// Tokens of leases that ended without an accepted commit, so that a late commit can be assigned to the job.
    var lost: [LeaseToken] = []
    /// Whether only a placeholder is left.
    var isForgotten = false
    /// The first failure, for the reason of a failed job.
    var firstTrouble: String?
    /// The origin whose budget its requests use.
    let origin: JobOrigin?
    /// The batches that each package waits for.
    var needs: PackageNeeds
    /// Jobs with the same tileset share fetched tiles.
    let tileset: Digest?
    /// See ``JobSubmission/asksChangedOnly``.
    let asksChangedOnly: Bool
    /// See ``JobSubmission/labels``.
    let labels: [String]
    /// See ``JobSubmission/publishesTogether``; a retry can end it.
    var publishesTogether: Bool
    /// See ``JobSubmission/formats``.
    let formats: PlacedList<PackageIndex, [String]>
    /// The cells of the batches, used to find batches that overlap another job.
    var cells = CellRuns()
    /// Ready batches that wait because another job is fetching some of their tiles.
    var parked: Set<BatchIndex> = []
    /// Tokens of its leases.
    var leased: Set<LeaseToken> = []
    /// Sessions that reported that they lack something the job needs, such as a secret.
    ///
    /// Not kept over a restart.
    var unable: Set<SessionID> = []
    /// Sessions that reported that the server has refused every request.
    ///
    /// Not kept over a restart.
    var refused: Set<SessionID> = []

    init(_ stored: StoredJob) {
        summary = stored.summary
        batches = Batches(stored.batches)
        packages = Packages(stored.packages)
        origin = stored.origin
        tileset = stored.tileset
        asksChangedOnly = stored.asksChangedOnly
        labels = stored.labels
        publishesTogether = stored.publishesTogether
        formats = PlacedList(stored.formats)
        needs = PackageNeeds(packages: packages.count, batches: batches.count)
        guard !summary.state.isFinal else {
            batches = Batches()
            return
        }
        recomputeFromBatches(stored.needs)
        cuts = batches.count { $0.state == .split && $0.digest == nil }
    }

    /// Must be called when the job becomes inactive or was inactive.
    mutating func recordPause() {
        if batches.contains(where: { $0.digest != nil || $0.partial != nil }) { summary.wasPaused = true }
    }

    /// Recomputes everything that depends on the batches.
    mutating func recomputeFromBatches(_ known: PackageNeeds?) {
        recount()
        cuts = 0
        isPlanned = batches.contains { $0.role != .cell }
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

    /// Recomputes the counts from the batches.
    mutating func recount() { summary.counts = counted() }

    /// The counts computed from the batches.
    ///
    /// `inFlightDone` belongs to the leases and stays 0.
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

    /// Moves a batch to another state and updates counts and queue.
    mutating func move(_ index: BatchIndex, to state: BatchState) {
        let wasSettled = batches[index].state.isSettled
        summary.counts[batches[index].state] -= 1
        summary.counts[state] += 1
        batches[index].state = state
        if state != .leased { batches[index].owner = 0 }
        if state.isSettled != wasSettled { needs.update(index, isSettled: state.isSettled) }
        parked.remove(index)
        if state == .ready { ready.insert(index) }
    }

    /// The first ready batch, or `nil`.
    mutating func popReady() -> BatchIndex? {
        while let index = ready.popMin() {
            if batches[index].state == .ready, !parked.contains(index) { return index }
        }
        return nil
    }

    /// The first ready batch, left in the queue, or `nil`.
    mutating func firstReady() -> BatchIndex? {
        while let index = ready.min {
            if batches[index].state == .ready, !parked.contains(index) { return index }
            ready.removeMin()
        }
        return nil
    }

    /// The formats of a package in addition to its own, ascending.
    func formats(of package: PackageIndex) -> [String] { formats.indices.contains(package) ? formats[package] : [] }

    /// Whether a batch can be granted.
    var hasReadyWork: Bool { summary.counts[.ready] > UInt64(parked.count) }

    var hasEndedFetching: Bool {
        summary.counts[.ready] + summary.counts[.leased] + summary.counts[.backoff] == 0
    }

    /// Whether more tiles are missing than the job's policy allows.
    ///
    /// Bodies of an archive that are not tiles are left out and do not count, unless no tile may be missing.
    var lacksTooMuch: Bool {
        let failed = summary.leavesOut ? givenUp : summary.counts.failed
        return Double(failed) > summary.allowedMissing * Double(summary.counts.tiles)
    }

    /// The tiles of batches that were given up, without failed tiles of accepted batches.
    private var givenUp: UInt64 { batches.reduce(0) { $0 + ($1.state == .dead ? $1.tiles : 0) } }
}
