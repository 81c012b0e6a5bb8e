import Digests
import Files
import Scheduling
import Wire
import ZeroMQ

/// A result of background work, for the loop.
enum Report: Sendable {
    /// The answer to a request is ready.
    case answer(ReplyAddress, Message)
    /// A submission was planned or refused. The answer goes to the client.
    case planned(ReplyAddress, Result<SubmitPlanner.Plan, SubmitProblem>, isDry: Bool, schedule: String)
    /// A schedule's submission was planned or refused when it was due.
    case firePlanned(Firing, Result<SubmitPlanner.Plan, SubmitProblem>)
    /// A schedule that is due cannot be read.
    case fireFailed(Firing, Trouble, retriable: Bool)
    /// The source of a schedule that is due has the build that its last job was made of.
    case fireUnchanged(Firing, build: String)
    /// The newest build of the source of a schedule that is due was not found.
    case lookupFailed(Firing, Trouble)
    /// The newest build for a schedule that a client runs was found, or not.
    case newestFound(ReplyAddress, schedule: String, Result<PBSubmit, SubmitProblem>)
    /// The submission of a schedule that a client runs was read; empty when it is gone.
    case scheduleRead(ReplyAddress, PBSubmit, [UInt8])
    /// The submission of a schedule that follows its files no more.
    case scheduleFrozen(ReplyAddress, Schedule, changing: Schedule, Result<PBSubmit, SubmitProblem>)
    /// The stored submission of a schedule that is to be changed.
    case scheduleToEdit(ReplyAddress, PBScheduleOrder, [UInt8])
    /// A schedule was checked, together with its submission.
    case schedulePlanned(
        ReplyAddress, Schedule, changing: Schedule?, payload: [UInt8], Result<SubmitPlanner.Plan, SubmitProblem>)
    /// The restart of a job that had ended at this time was prepared.
    /// Another submission of a job that has not ended.
    case remergePlanned(ReplyAddress, JobID, Result<Reopening, SubmitProblem>)
    case reopenPlanned(ReplyAddress, JobID, only: [BatchIndex]?, ended: Int64?, Result<Reopening, SubmitProblem>)
    /// The failed batches of an ended job were read.
    case failedWorkFound(ReplyAddress, PBFailedOrder, [BatchIndex])
    /// Failed work of an ended job was dropped; the text is the answer.
    case failedWorkDropped(ReplyAddress, JobID, chosen: [BatchIndex]?, count: Int, Result<String, SubmitProblem>)
    /// A page of the history of jobs was read.
    case historyRead(ReplyAddress, PBListJobs, StateStore.HistoryPage)
    /// The events that a waiting request asks for were read.
    case eventsRead(EventSubscriptions.Read, Message, isEmpty: Bool)
    /// A publication ended, or a manifest could not be written.
    case event(Event)
    /// A group of publications ended.
    case events([Event])
    /// The manifest of a package is durable. Its claim must be ended.
    case written(JobID, package: PackageIndex, Digest, decides: Bool)
    /// A commit's blob was looked up; `Trouble` says why it cannot be used.
    case checked(CommitCheck, WorkerRequest, CommitResult, Trouble?)
    /// The blob store did not answer a question about a commit's blob.
    case unchecked(CommitCheck, why: String)
    /// A step after a job has ended: what it did, or why it failed; `nil` = it was interrupted.
    case stepEnded(JobID, number: Int, Result<String, StepProblem>?)
    /// An automatic backup of the state has ended; it shows the state after `begun`, wall time in milliseconds since 1970.
    case backedUp(number: UInt64, begun: Int64, problem: (any Error)?)
    /// A job's blobs are removed.
    case released(JobID)
    /// These blobs of an ended job were claimed while the others were removed. They are checked again when the claim
    /// ends.
    case postponed(JobID, Set<Digest>)
    /// The same for blobs that a finished job names in addition to its shards.
    case trimPostponed(JobID, Set<Digest>)
    /// A job's blobs could not be removed. The next start tries again.
    case keptBlobs(JobID)
    /// How full the disk of a folder is; `nil` when it cannot be asked.
    case space(MetricsSnapshot.Folder, DiskSpace?)
    /// How many blobs there are; `nil` when they cannot be counted.
    case blobUsage(BlobUsage?)
    /// When the newest backup was made, in milliseconds since 1970; `nil` = no backup exists.
    case newestBackup(Int64?)
}

/// A commit that waits for the answer of the blob store.
struct CommitCheck: Hashable, Sendable {
    let session: SessionID
    let token: LeaseToken
}

/// The receiver of an answer.
struct ReplyAddress: Sendable {
    let peer: PeerID
    let session: SessionID
    let seq: UInt64
}

/// The state from which an ended job resumes.
struct Reopening: Sendable {
    let spec: JobSpec
    let batches: [Batch]
    let needs: PackageNeeds
    /// Whether these are the job's previous batches, with their blobs.
    let isKept: Bool
    /// The submission if the retry changes it, else empty.
    var payload: [UInt8] = []
    /// Whether packages that were published are made again.
    var mergesAll = false
}
