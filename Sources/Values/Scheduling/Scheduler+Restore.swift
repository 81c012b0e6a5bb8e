import HeapModule

extension Scheduler {
    /// Restores a job from a store: ready work is queued, leases wait for their workers, backoffs start over.
    mutating func restore(_ stored: StoredJob, now: Tick) {
        let id = stored.summary.id
        let place = add(stored)
        for (index, package) in jobs[place].packages.placed where package.merged != nil {
            if let token = package.token { ended[token] = .package(job: place, index: index) }
            recordMadePackage(place, package: index)
        }
        guard !stored.summary.state.isFinal else {
            finished.append(id)
            if stored.summary.keepsBlobs {
                if stored.summary.state == .done { restoreBaseline(stored) } else { kept.append(id) }
            }
            return
        }
        openOrigin(place)
        for (index, batch) in jobs[place].batches.placed {
            switch batch.state {
            case .leased:
                reopen(
                    batch.token, work: .batch(job: place, index: index), owner: batch.owner, tiles: batch.tiles,
                    now: now)
            case .backoff:
                setAlarm(
                    .batch(job: place, index: index),
                    at: now + policy.backoff(job: id, index: index.number, attempt: batch.attempts))
            case .done: if let token = batch.token { ended[token] = .batch(job: place, index: index) }
            // A plan that was accepted: its commit may be repeated.
            case .split:
                if batch.isAccepted, let token = batch.token { ended[token] = .batch(job: place, index: index) }
            case .ready, .dead: break
            }
        }
        for (index, package) in jobs[place].packages.placed where package.state == .leased {
            reopen(
                package.token, work: .package(job: place, index: index), owner: package.owner, tiles: package.tiles,
                now: now)
        }
        queue(place)
    }

    /// Adds a job to the tables; none of its work is queued yet.
    mutating func add(_ stored: StoredJob) -> JobPlace {
        let id = stored.summary.id
        let place = jobs.append(Job(stored))
        places[id] = place
        share(place, stored: stored)
        if !stored.summary.requestID.isEmpty { requests[stored.summary.requestID] = id }
        return place
    }

    private mutating func reopen(_ token: LeaseToken?, work: WorkRef, owner: SessionID, tiles: UInt64, now: Tick) {
        guard let token else {
            // Our stores never contain such a row. It must not lead to a lease that cannot end.
            if case .batch(let job, let index) = work { jobs[job].move(index, to: .ready) }
            return
        }
        let end = now + max(policy.lease, policy.restartGrace)
        leases[token] = Lease(
            session: owner, work: work, tiles: tiles, deadline: end, hardDeadline: now + cap(tiles), movedAt: now,
            granted: now)
        jobs[work.job].leased.insert(token)
        countLease(work, session: owner, isHere: false)
        unclaimed[owner, default: []].append(token)
        setAlarm(.lease(token), at: end)
    }

    /// Ends every lease that was found in the store, because its worker has ended.
    mutating func takeBackLeases(now: Tick) {
        unclaimed = [:]
        for token in leases.keys.sorted() { returnToQueue(token, now: now) }
    }

    /// The longest time that an attempt at `tiles` tiles may take.
    func cap(_ tiles: UInt64) -> Int64 {
        let (perTile, overflow) = Int64(clamping: tiles).multipliedReportingOverflow(by: policy.capPerTile)
        return overflow || perTile > .max / 2 ? .max / 2 : SchedulerPolicy.hardCap + perTile
    }
}
