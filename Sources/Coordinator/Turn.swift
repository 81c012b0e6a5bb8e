import Scheduling
import Wire
import ZeroMQ

/// The work of one tick of the loop: first all writes in one transaction, then the rest.
struct Turn: Sendable {
    struct Letter: Sendable {
        let peer: PeerID
        let bytes: [UInt8]
        /// The lease that an offer opens.
        ///
        /// It is taken back when the frame cannot be delivered.
        var offer: (session: SessionID, token: LeaseToken)?
    }
    enum Chore: Sendable {
        case manifest(JobID, package: Int)
        case publish(JobID, package: Int, MergedPackage)
        case release
        /// Remove the blobs that a kept previous build does not need; see ``Effect/trim(_:)``.
        case trim(JobID)
        /// Resume an ended job; see ``Event/reopen(_:batches:needs:only:payload:)``.
        case reopen(Asker, JobID, only: [Int]?, Permits = Permits())
        /// List failed work.
        case letters(Asker, PBListDead)
        /// Requeue or drop failed work.
        case deadOrder(Asker, PBDeadOrder)
        /// Copy the state file.
        case backup(Asker, name: String)
        /// Submit the job of a schedule: at its time, or by hand for a client that waits for the answer.
        case fire(schedule: String, due: Int64)
        case runSchedule(Asker, PBSubmit)
    }

    var writes: [StoreWrite] = []
    /// The sessions that may hold shares of budgets from now on; `nil` = unchanged.
    var holders: ShareHolders?
    var letters: [Letter] = []
    /// Answers about the process itself.
    ///
    /// They are sent without waiting: health must be reported especially when writing fails.
    var urgent: [Letter] = []
    var chores: [Chore] = []

    var isEmpty: Bool { writes.isEmpty && holders == nil && letters.isEmpty && urgent.isEmpty && chores.isEmpty }
}
