import DequeModule
import HeapModule

extension Scheduler {
    /// Queues a job if it has ready batches and is not paused.
    mutating func queue(_ job: JobPlace) {
        guard !jobs[job].isQueued, jobs[job].summary.state == .fetching, jobs[job].summary.priority >= 0,
            jobs[job].summary.after.isEmpty, jobs[job].hasReadyWork
        else { return }
        // A new or resumed job starts at the current virtual time: it has neither an advantage nor a disadvantage.
        jobs[job].pass = max(jobs[job].pass, virtualTime)
        jobs[job].isQueued = true
        jobs[job].ticket &+= 1
        fetchQueue.insert(
            FetchQueueEntry(
                priority: jobs[job].summary.priority, pass: jobs[job].pass, job: job, ticket: jobs[job].ticket))
    }

    /// Grants work until workers or work run out.
    ///
    /// Merges are granted first, because they complete jobs.
    mutating func dispatch(now: Tick) {
        // Tokens never repeat: after 2^32 grants this run grants no more, and the next run has its own range of
        // numbers.
        while !hasSpentTokens, let (entry, id) = nextMerge(now: now) {
            grantMerge(entry.job, package: entry.package, to: id, now: now)
            enlist(id, now: now)
        }
        requeueIdledJobs(now: now)
        while !hasSpentTokens, let (entry, id) = nextFetch(now: now) {
            fetchQueue.removeMin()
            jobs[entry.job].isQueued = false
            guard let index = jobs[entry.job].popReady() else { continue }
            virtualTime = max(virtualTime, entry.pass)
            let cost = max(jobs[entry.job].batches[index].tiles &* 1_024 / UInt64(jobs[entry.job].summary.weight), 1)
            jobs[entry.job].pass &+= cost
            grantFetch(entry.job, batch: index, to: id, now: now)
            queue(entry.job)
            enlist(id, now: now)
        }
        grantSpeculativeLeases(now: now)
    }

    /// The next entry of the fair queue, left in the heap.
    ///
    /// Outdated entries are dropped.
    mutating func nextFetchEntry() -> FetchQueueEntry? {
        while let entry = fetchQueue.min {
            guard jobs.contains(entry.job) else {
                fetchQueue.removeMin()
                continue
            }
            guard entry.ticket == jobs[entry.job].ticket else {
                fetchQueue.removeMin()
                continue
            }
            if jobs[entry.job].isQueued, jobs[entry.job].summary.state == .fetching, parkBlockedBatches(entry.job) {
                return entry
            }
            jobs[entry.job].isQueued = false
            fetchQueue.removeMin()
        }
        return nil
    }

    mutating func nextFetcher(now: Tick) -> SessionID? {
        while let id = fetchers.popFirst() {
            sessions[id]?.isQueuedToFetch = false
            if let session = sessions[id], canFetch(session, now: now) { return id }
        }
        return nil
    }

    private mutating func grantFetch(_ job: JobPlace, batch index: BatchIndex, to id: SessionID, now: Tick) {
        let token = offerFetch(job, batch: index, to: id, now: now)
        jobs[job].move(index, to: .leased)
        jobs[job].batches[index].token = token
        jobs[job].batches[index].owner = id
        storeBatch(job, batch: index)
    }

    /// Opens a lease of a batch and offers it.
    mutating func offerFetch(_ job: JobPlace, batch index: BatchIndex, to id: SessionID, now: Tick) -> LeaseToken {
        let batch = jobs[job].batches[index]
        let version = sourcesVersion(for: job)
        let isToPlan = batch.role == .plan
        let sources = isToPlan ? [] : sources(job, batch: index, of: version)
        let base = isToPlan ? [] : base(job, batch: index)
        let token = open(.batch(job: job, index: index), tiles: batch.tiles, for: id, now: now)
        let attempt = UInt32(batch.attempts) + UInt32(batch.losses) + 1
        let work = Offer.Work.fetch(batch: index, cell: batch.cell, zooms: batch.zooms, tiles: batch.tiles)
        send(
            .offer(
                Offer(
                    token: token, job: jobs[job].summary.id, lease: policy.lease, attempt: attempt, work: work,
                    sources: sources, base: base, isPartialFirst: batch.partial != nil,
                    hasFoundTiles: jobs[job].hasFoundTiles,
                    sourceVersion: jobs[job].summary.sourceVersion, sourcesVersion: sources.isEmpty ? nil : version,
                    isToPlan: isToPlan, plan: plan(of: job, batch: batch))),
            to: id)
        return token
    }

    private mutating func grantMerge(_ job: JobPlace, package index: PackageIndex, to id: SessionID, now: Tick) {
        let package = jobs[job].packages[index]
        guard let manifest = package.manifest else { return }
        let token = open(.package(job: job, index: index), tiles: package.tiles, for: id, now: now)
        movePackage(job, package: index, by: .granted(token, to: id))
        storePackage(job, package: index)
        let attempt = UInt32(package.attempts) + UInt32(package.losses) + 1
        let work = Offer.Work.merge(package: index, id: package.id, manifest: manifest)
        send(
            .offer(Offer(token: token, job: jobs[job].summary.id, lease: policy.lease, attempt: attempt, work: work)),
            to: id)
    }

    /// Starts a lease and uses one credit; a merge uses the credit of merges first.
    private mutating func open(_ work: WorkRef, tiles: UInt64, for id: SessionID, now: Tick) -> LeaseToken {
        counter += 1
        let token = LeaseToken(epoch: epoch, counter: counter)
        leases[token] = Lease(
            session: id, work: work, tiles: tiles, deadline: now + policy.lease, hardDeadline: now + cap(tiles),
            movedAt: now, granted: now)
        jobs[work.job].leased.insert(token)
        countLease(work, session: id, isHere: true)
        setAlarm(.lease(token), at: now + policy.lease)
        if sessions[id]?.leases.isEmpty == true { sessions[id]?.lastMoved = now }
        sessions[id]?.leases.append(token)
        if case .package = work, let left = sessions[id]?.mergeCredit, left > 0 {
            sessions[id]?.mergeCredit = left - 1
        } else {
            sessions[id]?.credit -= 1
        }
        return token
    }

    /// Ends a live lease, whatever its result, and updates the sums.
    mutating func close(_ token: LeaseToken, now: Tick) -> Lease? {
        guard let lease = leases.removeValue(forKey: token) else { return nil }
        jobs[lease.work.job].leased.remove(token)
        uncountLease(lease, now: now)
        if case .batch(let job, _) = lease.work, !lease.isSpeculative {
            jobs[job].summary.counts.inFlightDone -= lease.done
        }
        sessions[lease.session]?.leases.removeAll { $0 == token }
        unpark(behind: lease.work)
        return lease
    }
}
