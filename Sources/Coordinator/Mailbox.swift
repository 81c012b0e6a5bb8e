import Scheduling
import ZeroMQ

/// What work beside the loop reports back to it.
enum Report: Sendable {
    /// A submission was planned or refused; the answer goes to `peer`.
    case planned(Asker, Result<SubmitPlanner.Plan, SubmitProblem>, isDry: Bool)
    /// A manifest or publication ended.
    case event(Event)
    /// A commit's blob was looked for; `trouble` says why it cannot be used.
    case checked(CommitCheck, seq: UInt64, CommitResult, Trouble?)
    /// A job's blobs are gone.
    case released(JobID)
    /// A job's blobs could not be removed; the next start tries again.
    case keptBlobs(JobID)
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
