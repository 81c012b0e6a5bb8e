extension Scheduler {
    /// Recomputes everything that is kept incrementally and names each difference; empty = sound.
    ///
    /// Costs a pass over all batches: for tests.
    public func audit() -> [String] {
        var found: [String] = []
        for place in jobs.indices where !jobs[place].summary.state.isFinal {
            let job = jobs[place]
            let name = "job \(job.summary.id)"
            var counts = job.counted()
            for lease in leases.values {
                if case .batch(place, _) = lease.work, !lease.isBackup { counts.inFlightDone += lease.done }
            }
            if counts != job.summary.counts {
                found.append("\(name): numbers \(job.summary.counts) should be \(counts)")
            }
            if counts.totalBatches != UInt64(job.batches.count) { found.append("\(name): batches do not add up") }
            if counts.stored + counts.empty + counts.failed + counts.inFlightDone > counts.tiles {
                found.append("\(name): progress above 100 %")
            }
            for (index, batch) in job.batches.enumerated() {
                let lease = batch.token.flatMap { leases[$0] }
                if (batch.state == .leased) != (lease != nil) {
                    found.append("\(name) batch \(index): \(batch.state), lease \(lease != nil)")
                }
                if let lease, lease.session != batch.owner { found.append("\(name) batch \(index): owner differs") }
                if batch.state == .done, batch.digest == nil {
                    found.append("\(name) batch \(index): done without a digest")
                }
            }
            for (index, package) in job.packages.enumerated() {
                let lease = package.token.flatMap { leases[$0] }
                if (package.state == .leased) != (lease != nil) {
                    found.append("\(name) package \(index): \(package.state)")
                }
            }
            let isFree = job.summary.priority >= 0 && job.summary.after.isEmpty
            let canRun = job.summary.state == .fetching && isFree && job.summary.counts[.ready] > 0
            if canRun && !job.isQueued { found.append("\(name): ready batches but no turn") }
        }
        found += auditOrders() + auditBackups()
        for (token, lease) in leases {
            guard jobs.contains(lease.work.job) else {
                found.append("lease \(token): its job is forgotten")
                continue
            }
            let job = jobs[lease.work.job]
            if job.summary.state.isFinal { found.append("lease \(token): its job has ended") }
            if let session = sessions[lease.session], unclaimed[lease.session] == nil, !session.leases.contains(token) {
                found.append("lease \(token): its session does not know it")
            }
        }
        for (token, work) in ended where !jobs.contains(work.job) {
            found.append("token \(token): its job is forgotten")
        }
        for session in sessions.values {
            for token in session.leases where leases[token]?.session != session.id {
                found.append("session \(session.id): dead lease \(token)")
            }
        }
        return found.sorted()
    }

    /// Second leases: each beside a live first one of the same batch, with another session.
    private func auditBackups() -> [String] {
        var found: [String] = []
        for (work, token) in backups {
            guard case .batch(let job, let index) = work, let lease = leases[token], lease.isBackup, lease.work == work else {
                found.append("backup \(token): no lease of its batch")
                continue
            }
            let first = jobs[job].batches[index].token.flatMap { leases[$0] }
            if first?.isBackup != false { found.append("backup \(token): no first lease") }
            if first?.session == lease.session { found.append("backup \(token): with the session of the first lease") }
        }
        for (token, lease) in leases where lease.isBackup && backups[lease.work] != token {
            found.append("backup \(token): nobody knows it")
        }
        return found
    }

    /// Pauses, successions, kept jobs and schedules.
    private func auditOrders() -> [String] {
        var found: [String] = []
        for lease in leases.values where jobs.contains(lease.work.job) {
            let summary = jobs[lease.work.job].summary
            if summary.priority < 0 { found.append("job \(summary.id): paused, and yet a lease") }
            if !summary.after.isEmpty { found.append("job \(summary.id): waits for \(summary.after), and yet a lease") }
        }
        for place in jobs.indices where !jobs[place].isForgotten {
            let job = jobs[place]
            let id = job.summary.id
            if job.summary.keepsBlobs != kept.contains(id) { found.append("job \(id): kept by half") }
            if job.summary.keepsBlobs, job.summary.state != .failed { found.append("job \(id): kept, not failed") }
            if job.summary.state.isFinal != finished.contains(id) { found.append("job \(id): ended by half") }
            for other in job.summary.after where !job.summary.state.isFinal && !isLiving(other) {
                found.append("job \(id): waits for job \(other), which has ended")
            }
        }
        if kept.count > policy.keptFailedJobs { found.append("\(kept.count) failed jobs kept") }
        for id in firing where schedules[id] == nil { found.append("schedule \(id): fires, and is not there") }
        return found
    }
}
