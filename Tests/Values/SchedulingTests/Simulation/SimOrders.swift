import Scheduling

/// What the shell does about orders.
extension Simulation {
    mutating func submit(_ client: Int) {
        var submission = specs[clients[client].spec].submission
        submission.requestID = "request \(client)"
        if clients[client].follows, client > 0, let before = clients[client - 1].job {
            submission.after = [before]
            marks.hit(.followed)
            if coordinator?.scheduler.job(requestID: submission.requestID) == nil,
                coordinator?.scheduler.refusal(after: [before]) != nil
            {
                coordinator?.turn.replies.append(.refused(client: client))
                return
            }
        }
        hand(.submit(submission), client: client)
    }

    mutating func follow(_ order: SimOrder, _ job: JobID, _ client: Int, _ step: Int) {
        switch order {
        case .cancel: hand(.cancel(job))
        case .pause: hand(.order(job, .pause))
        case .resume:
            silenced[job] = nil
            hand(.order(job, .resume))
        case .prioritise(let priority): hand(.order(job, .prioritise(priority)))
        case .weigh(let weight): hand(.order(job, .weigh(weight)))
        case .requeue:
            checker.reconsidered.insert(job)
            hand(.requeue(job, batches: nil))
        case .drop:
            checker.reconsidered.insert(job)
            hand(.drop(job, batches: nil))
        case .retry: guard reopen(job) else { return }
        }
        coordinator?.turn.replies.append(.ordered(client: client, step: step))
    }

    /// Lets an ended job go on; `false` when it must be asked again, because its blobs are on their way out.
    private mutating func reopen(_ job: JobID) -> Bool {
        guard let scheduler = coordinator?.scheduler, scheduler.refusal(ofRetry: job) == nil else { return true }
        guard let rows = store.job(job), let spec = spec(of: job) else { return true }
        let isKept = scheduler.summary(of: job)?.keepsBlobs == true
        let isLeaving =
            coordinator?.unreleased.contains(job) == true || coordinator?.releasing.contains(job) == true
            || scheduler.isWriting(job)
        guard isKept || !isLeaving else { return false }
        marks.hit(isKept ? .retriedWithBlobs : .retriedAnew)
        silenced[job] = nil
        coordinator?.unreleased.removeAll { $0 == job }
        if isKept { resetSome(rows) }
        let batches = isKept ? store.job(job)?.batches ?? [] : spec.submission.batches.map(Batch.init)
        hand(.reopen(job, batches: batches, isKept: isKept, needs: spec.needs(of: batches), only: nil))
        return true
    }

    /// What a retry that ended early leaves: some batches of the ended job are reset before the job is reopened.
    private mutating func resetSome(_ job: StoredJob) {
        guard store.fullUntil <= now else { return }
        let some = job.batches.indices.filter { $0 % 2 == 0 && job.batches[$0].isReset(byRetry: true) }
        store.apply(.resetBatches(job.summary.id, some.map(BatchIndex.init)), now: now)
    }

    /// After this answer no worker may send requests to the origin for the job.
    mutating func silence(_ client: Int, _ step: Int) {
        guard let job = clients[client].job, let row = store.job(job)?.summary else { return }
        let order = clients[client].steps[step].order
        guard order == .cancel || order == .pause, row.state.isFinal || row.priority < 0 else { return }
        if order == .pause { marks.hit(.paused) }
        silenced[job] = silenced[job] ?? now
    }

    /// Whether an ended job's blobs are dealt with.
    func canForget(_ job: JobID) -> Bool {
        coordinator?.unreleased.contains(job) == false && coordinator?.releasing.contains(job) == false
            && coordinator?.scheduler.isGiving(job) == false && coordinator?.scheduler.isWriting(job) == false
    }
}
