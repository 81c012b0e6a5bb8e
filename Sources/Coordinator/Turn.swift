import Scheduling
import Wire
import ZeroMQ

/// What one turn of the loop must do: first all writes in one transaction, then the rest.
struct Turn: Sendable {
    struct Letter: Sendable {
        let peer: PeerID
        let bytes: [UInt8]
        /// The lease an offer opens, to take it back when the letter cannot be delivered.
        var offer: (session: SessionID, token: LeaseToken)?
    }
    enum Chore: Sendable {
        case manifest(JobID, package: Int)
        case publish(JobID, package: Int, MergedPackage)
        case release
        /// Remove what a baseline does not need; see ``Effect/trim(_:)``.
        case trim(JobID)
        /// Let an ended job go on; see ``Event/reopen(_:batches:only:)``.
        case reopen(Asker, JobID, only: [Int]?, Permits = Permits())
        /// List what was given up.
        case letters(Asker, PBListDead)
        /// Requeue or drop what was given up.
        case deadOrder(Asker, PBDeadOrder)
        /// Submit a schedule's submission: at its time, or by hand for somebody who waits for the answer.
        case fire(schedule: String, due: Int64)
        case runSchedule(Asker, PBSubmit)
    }

    var writes: [StoreWrite] = []
    /// Who may hold shares of budgets from here on; `nil` = as before.
    var holders: ShareHolders?
    var letters: [Letter] = []
    /// Answers about the process itself, which wait for nothing: health must be told above all when writing fails.
    var urgent: [Letter] = []
    var chores: [Chore] = []

    var isEmpty: Bool { writes.isEmpty && holders == nil && letters.isEmpty && urgent.isEmpty && chores.isEmpty }
}
