import DequeModule

/// Second leases of batches whose first one takes too long near the end of a job.
///
/// The first valid commit wins, the other is refused as stale. Only the first lease is stored: a backup lives in the memory of one incarnation.
/// After a restart its worker finds it unknown and drops it; its commit is refused, because its token is no row's. What a lease table would
/// save, one repeated attempt now and then, is not worth a write more for every backup. The row always names the lease that decides: when the
/// first one ends badly, the backup takes its place in the row; when the backup's commit is accepted, the row gets the backup's token.
extension Scheduler {
    /// Gives idle workers second leases, once nothing else is left to give.
    mutating func grantBackups(now: Tick) {
        guard !fetchers.isEmpty, !leases.isEmpty, now >= nextBackups, !hasSpentTokens else { return }
        nextBackups = now + policy.backupPause
        for (token, job, index) in stragglers(now: now) {
            guard let first = leases[token], let id = nextBackupFetcher(job, than: first.session, now: now) else {
                continue
            }
            let backup = offerFetch(job, index, to: id, now: now)
            leases[backup]?.isBackup = true
            backups[first.work] = backup
            enlist(id, now: now)
        }
    }

    /// Leases that are worth a second one, oldest first.
    private func stragglers(now: Tick) -> [(token: LeaseToken, job: Int, index: Int)] {
        var patience: [Int: Int64] = [:]
        var found: [(token: LeaseToken, job: Int, index: Int, since: Tick)] = []
        for (token, lease) in leases where !lease.isBackup && backups[lease.work] == nil {
            guard case .batch(let job, let index) = lease.work else { continue }
            let limit = patience[job] ?? (jobs[job].isNearItsEnd ? jobs[job].patience(policy) : .max)
            patience[job] = limit
            if now - lease.granted > limit { found.append((token, job, index, lease.granted)) }
        }
        return found.sorted { ($0.since, $0.token) < ($1.since, $1.token) }.map { ($0.token, $0.job, $0.index) }
    }

    private mutating func nextBackupFetcher(_ job: Int, than holder: SessionID, now: Tick) -> SessionID? {
        let place = fetchers.firstIndex { id in
            id != holder && sessions[id].map { canTake($0, now: now) } == true && maySit(id, for: job, now: now)
        }
        guard let place else { return nil }
        let id = fetchers.remove(at: place)
        sessions[id]?.isQueuedToFetch = false
        return id
    }

    // MARK: - Ends

    /// Lets the backup of a batch take the place of its first lease, which has ended; whether there was one.
    mutating func promoteBackup(_ job: Int, _ index: Int) -> Bool {
        guard let token = backups.removeValue(forKey: .batch(job: job, index: index)), let lease = leases[token] else {
            return false
        }
        leases[token]?.isBackup = false
        jobs[job].summary.counts.inFlightDone += lease.done
        jobs[job].batches[index].token = token
        jobs[job].batches[index].owner = lease.session
        storeBatch(job, index)
        return true
    }

    /// Ends the other lease of a batch that was accepted, cut or given up, and tells its worker to stop.
    mutating func endRivals(_ job: Int, _ index: Int, of winner: LeaseToken? = nil, now: Tick) {
        let work = WorkRef.batch(job: job, index: index)
        let first = jobs[job].batches[index].token
        for token in [backups.removeValue(forKey: work), first].compactMap(\.self)
        where token != winner && leases[token]?.work == work {
            void(token, now: now)
            remember(token, work)
        }
    }

    /// Forgets a backup that has ended; costs its batch nothing, because the first lease goes on.
    mutating func endBackup(_ lease: Lease) { backups[lease.work] = nil }
}

extension Job {
    /// Whether hardly anything is left to do and nothing to hand out.
    fileprivate var isNearItsEnd: Bool {
        let counts = summary.counts
        let open = counts[.ready] + counts[.leased] + counts[.backoff]
        return summary.state == .fetching && counts[.ready] == 0 && open <= max(counts.wholeBatches / 10, 1)
    }

    /// How old a lease may become before it gets a backup.
    ///
    /// Milliseconds. A job without a finished batch in this incarnation counts a whole lease as its median.
    fileprivate func patience(_ policy: SchedulerPolicy) -> Int64 {
        let median = durations.isEmpty ? policy.lease : durations.sorted()[durations.count / 2]
        return max(policy.backupAge, median.multipliedReportingOverflow(by: policy.backupFactor).partialValue)
    }

    /// Notes how long an accepted batch took.
    mutating func noteDuration(_ span: Int64) {
        if durations.count >= 32 { durations.removeFirst() }
        durations.append(span)
    }
}
