import Scheduling
import ZeroMQ

/// What work beside the loop reports back to it.
enum Report: Sendable {
    /// A submission was planned or refused; the answer goes to `peer`.
    case planned(Asker, Result<SubmitPlanner.Plan, SubmitProblem>, isDry: Bool)
    /// A schedule's submission was planned or refused at its time.
    case firePlanned(Firing, Result<SubmitPlanner.Plan, SubmitProblem>)
    /// A schedule was checked, with its submission.
    case schedulePlanned(Asker, Schedule, payload: [UInt8], Result<SubmitPlanner.Plan, SubmitProblem>)
    /// What an ended job needs to go on was made ready.
    case reopenPlanned(Asker, JobID, only: [Int]?, Result<Reopening, SubmitProblem>)
    /// A publication ended, or a manifest could not be written.
    case event(Event)
    /// Publications that were made together ended.
    case events([Event])
    /// The manifest of a package is durable; its claim is to be settled.
    case written(JobID, package: Int, ContentDigest, decides: Bool)
    /// A commit's blob was looked for; `trouble` says why it cannot be used.
    case checked(CommitCheck, seq: UInt64, CommitResult, Trouble?)
    /// The blob store could not be asked about a commit's blob.
    case unchecked(CommitCheck, why: String)
    /// A job's blobs are gone.
    case released(JobID)
    /// These of an ended job's blobs were claimed while the others were removed; the rows are asked again when that is settled.
    case postponed(JobID, Set<ContentDigest>)
    /// The same for what a job that is done names in addition to its shards.
    case trimPostponed(JobID, Set<ContentDigest>)
    /// A job's blobs could not be removed; the next start tries again.
    case keptBlobs(JobID)
    /// How full the catalog's disk is; `nil` when it cannot be asked.
    case catalogRoom(DiskRoom?)
}

/// A commit that waits for the blob store's word.
struct CommitCheck: Hashable, Sendable {
    let session: SessionID
    let token: LeaseToken
}

/// Whom an answer goes to.
struct Asker: Sendable {
    let peer: PeerID
    let session: SessionID
    let seq: UInt64
}

/// What an ended job goes on with.
struct Reopening: Sendable {
    let spec: JobSpec
    let batches: [Batch]
    let needs: PackageNeeds
    /// Whether the batches are those it had, with their blobs.
    let isKept: Bool
    /// The submission when the retry changes it, else empty.
    var payload: [UInt8] = []
}
