import DequeModule

/// Speculative leases: second leases of batches whose first lease takes too long near the end of a job.
///
/// The first valid commit wins, and the other one is refused as stale. Only the first lease is stored: a speculative
/// lease exists only in the memory of one coordinator run. After a restart the answer to its worker says that it is
/// unknown, and the worker drops it; its commit is refused, because no row has its token. Storing it would only save one
/// repeated attempt now and then, and would cost one more write for every speculative lease. The row always names the
/// lease that decides: when the first lease fails, the speculative lease replaces it in the row; when the commit of the
/// speculative lease is accepted, the row gets its token.
extension Scheduler {
    /// Grants speculative leases to idle workers, if no other work is left.
    mutating func grantSpeculativeLeases(now: Tick) {
        guard !fetchers.isEmpty, !leases.isEmpty, now >= nextSpeculation, !hasSpentTokens else { return }
        nextSpeculation = now + SchedulerPolicy.speculativeInterval
        for (token, job, index) in stragglers(now: now) {
            guard let first = leases[token], let id = nextSpeculativeFetcher(job, than: first.session, now: now) else {
                continue
            }
            let speculative = offerFetch(job, batch: index, to: id, now: now)
            leases[speculative]?.isSpeculative = true
            speculativeLeases[first.work] = speculative
            enlist(id, now: now)
        }
    }

    /// Leases that should get a speculative lease, oldest first.
    private func stragglers(now: Tick) -> [(token: LeaseToken, job: JobPlace, index: BatchIndex)] {
        var patience: [JobPlace: Int64] = [:]
        var found: [(token: LeaseToken, job: JobPlace, index: BatchIndex, since: Tick)] = []
        for (token, lease) in leases where !lease.isSpeculative && speculativeLeases[lease.work] == nil {
            guard case .batch(let job, let index) = lease.work else { continue }
            let limit = patience[job] ?? (jobs[job].isNearItsEnd ? jobs[job].patience(policy) : .max)
            patience[job] = limit
            if now - lease.granted > limit { found.append((token, job, index, lease.granted)) }
        }
        return found.sorted { ($0.since, $0.token) < ($1.since, $1.token) }.map { ($0.token, $0.job, $0.index) }
    }

    private mutating func nextSpeculativeFetcher(_ job: JobPlace, than holder: SessionID, now: Tick) -> SessionID? {
        let place = fetchers.firstIndex { id in
            id != holder && sessions[id].map { canFetch($0, now: now) } == true && maySit(id, for: job, now: now)
        }
        guard let place else { return nil }
        let id = fetchers.remove(at: place)
        sessions[id]?.isQueuedToFetch = false
        return id
    }

    // MARK: - Ends

    /// Replaces the ended first lease of a batch by its speculative lease.
    ///
    /// Returns whether there was one.
    mutating func promoteSpeculativeLease(_ job: JobPlace, batch index: BatchIndex) -> Bool {
        guard let token = speculativeLeases.removeValue(forKey: .batch(job: job, index: index)),
            let lease = leases[token]
        else {
            return false
        }
        leases[token]?.isSpeculative = false
        jobs[job].summary.counts.inFlightDone += lease.done
        jobs[job].batches[index].token = token
        jobs[job].batches[index].owner = lease.session
        storeBatch(job, batch: index)
        return true
    }

    /// Ends the competing lease of a batch that was accepted, split or has failed, and tells its worker to stop.
    mutating func endCompetingLeases(_ job: JobPlace, batch index: BatchIndex, of winner: LeaseToken? = nil, now: Tick)
    {
        let work = WorkRef.batch(job: job, index: index)
        let first = jobs[job].batches[index].token
        for token in [speculativeLeases.removeValue(forKey: work), first].compactMap(\.self)
        where token != winner && leases[token]?.work == work {
            cancelLease(token, now: now)
            recordEnded(token, work: work)
        }
    }

    /// Forgets a speculative lease that has ended.
    ///
    /// It costs its batch nothing, because the first lease continues.
    mutating func endSpeculativeLease(_ lease: Lease) { speculativeLeases[lease.work] = nil }
}

extension Job {
    /// Whether hardly any work is left and none can be granted.
    fileprivate var isNearItsEnd: Bool {
        let counts = summary.counts
        let open = counts[.ready] + counts[.leased] + counts[.backoff]
        return summary.state == .fetching && counts[.ready] == 0 && open <= max(counts.wholeBatches / 10, 1)
    }

    /// The age at which a lease gets a speculative lease.
    ///
    /// Milliseconds. For a job without a finished batch in this run, the duration of a whole lease counts as the
    /// median.
    fileprivate func patience(_ policy: SchedulerPolicy) -> Int64 {
        let median = durations.isEmpty ? policy.lease : durations.sorted()[durations.count / 2]
        return max(
            SchedulerPolicy.speculativeAge,
            median.multipliedReportingOverflow(by: SchedulerPolicy.speculativeFactor).partialValue)
    }

    /// Records the duration of an accepted batch.
    mutating func recordDuration(_ span: Int64) {
        if durations.count >= 32 { durations.removeFirst() }
        durations.append(span)
    }
}
