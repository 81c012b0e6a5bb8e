import DequeModule
import Errors
import HeapModule

/// Connects the budgets of origins with jobs, leases and sessions.
extension Scheduler {
    // MARK: - Jobs and leases come and go

    mutating func openOrigin(_ job: JobPlace) {
        if let origin = jobs[job].origin { rates.open(jobs[job].summary.id, origin: origin) }
    }

    mutating func closeOrigin(_ job: JobPlace) {
        if let origin = jobs[job].origin { rates.close(jobs[job].summary.id, origin: origin.name) }
    }

    mutating func countLease(_ work: WorkRef, session id: SessionID, isHere: Bool) {
        if case .batch(let job, _) = work, let origin = jobs[job].origin {
            rates.lease(origin.name, session: id, isHere: isHere)
        }
    }

    mutating func uncountLease(_ lease: Lease, now: Tick) {
        if case .batch(let job, _) = lease.work, let origin = jobs[job].origin {
            rates.release(origin.name, session: lease.session, now: now)
        }
    }

    // MARK: - Offers

    /// The next job, left in the heap, and the session that gets its next batch.
    ///
    /// A job whose origin has no work for any session with its labels now is set aside, and other jobs are served.
    mutating func nextFetch(now: Tick) -> (FetchQueueEntry, SessionID)? {
        while !fetchers.isEmpty, let entry = nextFetchEntry() {
            let needs = jobs[entry.job].fetchNeeds
            guard needs != FetchNeeds() else { return nextFetcher(now: now).map { (entry, $0) } }
            // A job that ended and was resumed counts again.
            openOrigin(entry.job)
            if let id = eligibleFetcher(needs, for: entry.job, now: now) {
                leaveQueue(id)
                return (entry, id)
            }
            fetchQueue.removeMin()
            jobs[entry.job].isQueued = false
            idled[needs, default: []].insert(entry.job)
        }
        return nil
    }

    /// Queues jobs again that were set aside, if a session may now work for them.
    mutating func requeueIdledJobs(now: Tick) {
        guard !idled.isEmpty, !fetchers.isEmpty else { return }
        for needs in idled.keys.sorted() where eligibleFetcher(needs, for: nil, now: now) != nil {
            for job in (idled.removeValue(forKey: needs) ?? []).sorted() where jobs.contains(job) { queue(job) }
        }
    }

    /// The session with the labels that gets the next batch of an origin: while a seat is free, the first permitted session in the
    /// queue; otherwise the seated session with the fewest leases.
    ///
    /// Without an origin, the first one in the queue.
    ///
    /// - Parameter job: The job of the batch; `nil` = any.
    private func eligibleFetcher(_ needs: FetchNeeds, for job: JobPlace?, now: Tick) -> SessionID? {
        func can(_ id: SessionID) -> Bool {
            guard let session = sessions[id], canFetch(session, now: now) else { return false }
            return needs.labels.allSatisfy(session.profile.labels.contains) && job.map { understands($0, id) } != false
        }
        let origin = needs.origin
        guard !origin.isEmpty else { return fetchers.first(where: can) }
        let seats = rates.seats(origin, now: now)
        guard seats > 0, let book = rates.book(origin) else { return nil }
        func may(_ id: SessionID) -> Bool { can(id) && rates.mayLease(origin, session: id, now: now) }
        let isLearning = rates.isLearning(origin, at: now)
        if book.seated < seats, !isLearning { return fetchers.first(where: may) }
        var best: (leases: Int, id: SessionID)?
        for (id, share) in book.shares
        where (share.isSeated || isLearning) && best.map({ (share.leases, id) < $0 }) ?? true {
            if sessions[id]?.isQueuedToFetch == true, may(id) { best = (share.leases, id) }
        }
        return best?.id
    }

    /// Whether the origin of a job has a seat for a session.
    ///
    /// A second lease uses the same budget as the first one.
    func maySit(_ id: SessionID, for job: JobPlace, now: Tick) -> Bool {
        guard suits(job, id) else { return false }
        guard let origin = jobs[job].origin?.name else { return true }
        guard let book = rates.book(origin), rates.mayLease(origin, session: id, now: now) else {
            return false
        }
        return book.shares[id]?.isSeated == true || book.seated < rates.seats(origin, now: now)
    }

    private mutating func leaveQueue(_ id: SessionID) {
        guard let place = fetchers.firstIndex(of: id) else { return }
        fetchers.remove(at: place)
        sessions[id]?.isQueuedToFetch = false
    }

    // MARK: - Reports

    mutating func report(
        _ id: SessionID, uses: [OriginUse], acknowledged: UInt64, namesHeld: Bool, now: Tick
    ) {
        guard sessions[id] != nil else { return }
        rates.applyReport(uses, acknowledged: acknowledged, namesHeld: namesHeld, from: id, now: now)
    }

    /// Sends sessions their changed shares, and requests a timer for the next change.
    mutating func sendChangedShares(now: Tick) {
        for (id, grants) in rates.divideBudgets(now: now) where sessions[id] != nil { send(.grants(grants), to: id) }
        storeHolders()
        guard let next = rates.wake, rateAlarm.map({ next < $0 }) ?? true else { return }
        rateAlarm = max(next, now + 10)
        setAlarm(.rates, at: max(next, now + 10))
    }

    /// Stores the sessions that may hold shares, before any of them gets a new one.
    private mutating func storeHolders() {
        guard rates.mayHaveNewHolders else { return }
        rates.mayHaveNewHolders = false
        guard let holders = rates.holders, holders != storedHolders else { return }
        storedHolders = holders
        effects.append(.holders(holders))
    }

    // MARK: - Waiting is no fault

    /// A lease whose origin allows no requests does not count as stalled, and its time limit is extended.
    mutating func excuseWaiting(_ token: LeaseToken, now: Tick) {
        guard let lease = leases[token], case .batch(let job, _) = lease.work, let origin = jobs[job].origin,
            let book = rates.book(origin.name)
        else { return }
        let isShut = rates.learning(origin.name) != nil || book.health.excuses(at: now)
        let share = book.shares[lease.session]
        let isSlow = share?.amount.isNothing != false || book.limits.perSecond != nil || book.isSlowed
        guard isShut || (share?.isWaiting == true && isSlow) else { return }
        let end = max(lease.hardDeadline, now + cap(lease.tiles))
        leases[token]?.movedAt = now
        leases[token]?.hardDeadline = end
    }

    /// Puts a batch back at no cost if it failed while its origin was blocked or down.
    ///
    /// - Returns: Whether it was put back.
    mutating func postpone(_ work: WorkRef, trouble: Trouble, retriable: Bool, now: Tick) -> Bool {
        guard retriable, !FailureCause.local.contains(trouble.cause), case .batch(let job, let index) = work,
            jobs[job].batches.indices.contains(index), let origin = jobs[job].origin,
            rates.book(origin.name)?.health.excuses(at: now) == true
        else { return false }
        jobs[job].batches[index].trouble = trouble
        if promoteSpeculativeLease(job, batch: index) { return true }
        jobs[job].move(index, to: .backoff)
        storeBatch(job, batch: index)
        let pause = policy.backoff(job: jobs[job].summary.id, index: index.number, attempt: 1)
        setAlarm(.batch(job: job, index: index), at: now + pause)
        return true
    }

    // MARK: - Views

    /// Every origin of unfinished jobs and every one that an operator has limited, by name.
    public func origins(now: Tick) -> [OriginView] {
        let unused = rates.operatorLimits.filter { rates.book($0.key) == nil }
        let used = rates.all.map { $0.view(now: now, learningUntil: rates.learning($0.name)) }
        return (used + unused.map { OriginView(unused: $0.key, limit: $0.value) }).sorted { $0.name < $1.name }
    }

    /// Why the origin of a fetching job allows no requests now; empty = it allows them.
    public func hindrance(of id: JobID, now: Tick) -> String {
        guard let job = places[id], jobs[job].summary.state == .fetching, let origin = jobs[job].origin,
            let book = rates.book(origin.name)
        else { return "" }
        return book.view(now: now, learningUntil: rates.learning(origin.name)).hindrance
    }
}
