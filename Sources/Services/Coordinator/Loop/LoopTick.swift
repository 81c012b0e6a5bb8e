import Scheduling
import Wire
import ZeroMQ

/// A frame that waits for the transaction of its tick.
struct OutboundFrame: Sendable {
    let peer: PeerID
    let bytes: [UInt8]
    /// The lease that an offer opens.
    ///
    /// It is taken back when the frame cannot be delivered.
    var offer: (session: SessionID, token: LeaseToken)?
    /// The request of the command line that it answers.
    var request: ReplyAddress?
}

/// Work that starts when the writes of its tick are durable.
enum BackgroundTask: Sendable {
    /// Write the merge manifest of a package.
    case writeManifest(JobID, package: PackageIndex)
    /// Put a merged package into the catalog.
    case publish(JobID, package: PackageIndex, MergedPackage)
    /// Put all merged packages of a job into the catalog, in one change.
    case publishTogether(JobID)
    /// Remove the blobs of ended jobs.
    case releaseBlobs
    /// Remove the blobs that a kept previous build does not need; see ``Effect/trim(_:)``.
    case trimBlobs(JobID)
    /// Resume an ended job; see ``Event/reopen(_:batches:needs:only:payload:)``.
    case reopen(ReplyAddress, JobID, only: [BatchIndex]?, PBJobOrder = PBJobOrder())
    /// Requeue or drop failed work.
    case failedWorkOrder(ReplyAddress, PBFailedOrder)
    /// Submit the job of a schedule at its time.
    case fireSchedule(String, due: Int64)
    /// Submit the job of a schedule for a client that waits for the answer.
    case runSchedule(ReplyAddress, PBSubmit)
    /// Work that needs nothing from the loop, as a query does.
    case run(BackgroundExecutor.Queue, @Sendable () async -> Report?)
}

/// What one tick of the loop collects: first all writes in one transaction, then the rest.
struct LoopTick: Sendable {
    var writes: [StoreWrite] = []
    /// The sessions that may hold shares of budgets from now on; `nil` = unchanged.
    var holders: ShareHolders?
    var frames: [OutboundFrame] = []
    /// Answers about the process itself.
    ///
    /// They are sent without waiting: health must be reported especially when writing fails.
    var urgentFrames: [OutboundFrame] = []
    var tasks: [BackgroundTask] = []

    var isEmpty: Bool {
        writes.isEmpty && holders == nil && frames.isEmpty && urgentFrames.isEmpty && tasks.isEmpty
    }
}
