import Tiles

extension Scheduler {
    /// Recomputes everything that is maintained incrementally and describes each difference; empty = no error.
    ///
    /// Costs a pass over all batches. For tests.
    public func audit() -> [String] {
        var found: [String] = []
        for place in jobs.indices where !jobs[place].summary.state.isFinal {
            let job = jobs[place]
            let name = "job \(job.summary.id)"
            var counts = job.counted()
            for lease in leases.values {
                if case .batch(place, _) = lease.work, !lease.isSpeculative { counts.inFlightDone += lease.done }
            }
            if counts != job.summary.counts {
                found.append("\(name): numbers \(job.summary.counts) should be \(counts)")
            }
            if counts.totalBatches != UInt64(job.batches.count) { found.append("\(name): the sum of batches is wrong") }
            if counts.stored + counts.empty + counts.failed + counts.inFlightDone > counts.tiles {
                found.append("\(name): progress above 100 %")
            }
            for (index, batch) in job.batches.placed {
                let lease = batch.token.flatMap { leases[$0] }
                if (batch.state == .leased) != (lease != nil) {
                    found.append("\(name) batch \(index): \(batch.state), lease \(lease != nil)")
                }
                if let lease, lease.session != batch.owner { found.append("\(name) batch \(index): owner differs") }
                if batch.state == .done, batch.digest == nil {
                    found.append("\(name) batch \(index): done without a digest")
                }
            }
            for (index, package) in job.packages.placed {
                let lease = package.token.flatMap { leases[$0] }
                if (package.state == .leased) != (lease != nil) {
                    found.append("\(name) package \(index): \(package.state)")
                }
            }
            found += auditNeeds(job, name: name) + auditSharing(place, name: name)
            let isFree = job.summary.priority >= 0 && job.summary.after.isEmpty
            let canRun = job.summary.state == .fetching && isFree && job.hasReadyWork
            let isIdled = idled[job.fetchNeeds]?.contains(place) == true
            if canRun && !job.isQueued && !isIdled { found.append("\(name): ready batches, but no queue entry") }
        }
        if let illegalTransition { found.append(illegalTransition) }
        found += auditOrders() + auditSpeculativeLeases()
        for (token, lease) in leases {
            guard jobs.contains(lease.work.job) else {
                found.append("lease \(token): its job is forgotten")
                continue
            }
            let job = jobs[lease.work.job]
            if job.summary.state.isFinal { found.append("lease \(token): its job has ended") }
            if let session = sessions[lease.session], unclaimed[lease.session] == nil, !session.leases.contains(token) {
                found.append("lease \(token): its session does not list it")
            }
        }
        for work in writing.keys where !jobs.contains(work.job) {
            found.append("\(work): a manifest is written for a forgotten job")
        }
        for (token, work) in ended where !jobs.contains(work.job) {
            found.append("token \(token): its job is forgotten")
        }
        for session in sessions.values {
            for token in session.leases where leases[token]?.session != session.id {
                found.append("session \(session.id): dead lease \(token)")
            }
        }
        for book in rates.all where book.seated != book.shares.values.count(where: \.isSeated) {
            found.append("origin \(book.name): \(book.seated) seated")
        }
        return found.sorted()
    }

    /// Checks speculative leases: each needs a live first lease of the same batch, in another session.
    private func auditSpeculativeLeases() -> [String] {
        var found: [String] = []
        for (work, token) in speculativeLeases {
            guard case .batch(let job, let index) = work, let lease = leases[token], lease.isSpeculative,
                lease.work == work
            else {
                found.append("speculative lease \(token): no lease of its batch")
                continue
            }
            let first = jobs[job].batches[index].token.flatMap { leases[$0] }
            if first?.isSpeculative != false { found.append("speculative lease \(token): no first lease") }
            if first?.session == lease.session {
                found.append("speculative lease \(token): same session as the first lease")
            }
        }
        for (token, lease) in leases where lease.isSpeculative && speculativeLeases[lease.work] != token {
            found.append("speculative lease \(token): not listed by its batch")
        }
        return found
    }

    /// Checks pauses, predecessors, kept jobs and schedules.
    private func auditOrders() -> [String] {
        var found: [String] = []
        for lease in leases.values where jobs.contains(lease.work.job) {
            let summary = jobs[lease.work.job].summary
            if summary.priority < 0 { found.append("job \(summary.id): paused, but has a lease") }
            if !summary.after.isEmpty { found.append("job \(summary.id): waits for \(summary.after), but has a lease") }
        }
        for place in jobs.indices where !jobs[place].isForgotten {
            let job = jobs[place]
            let id = job.summary.id
            let isBaseline = baselines.contains(id)
            if job.summary.keepsBlobs != (kept.contains(id) || isBaseline) {
                found.append("job \(id): keepsBlobs differs from the lists of kept jobs")
            }
            if kept.contains(id), job.summary.state != .failed { found.append("job \(id): kept, not failed") }
            if isBaseline, job.summary.state != .done { found.append("job \(id): a previous build, but not done") }
            if job.summary.state.isFinal != finished.contains(id) {
                found.append("job \(id): the list of finished jobs differs from its state")
            }
            for other in job.summary.after where !job.summary.state.isFinal && !isLiving(other) {
                found.append("job \(id): waits for job \(other), which has ended")
            }
        }
        if baselines.count > SchedulerPolicy.maxBaselines || baselines.bytes > policy.baselineBytes {
            found.append("\(baselines.count) previous builds of \(baselines.bytes) bytes")
        }
        for (manifest, work) in made where merged(from: manifest) == nil && !jobs.contains(work.job) {
            found.append("manifest \(manifest): its job is forgotten")
        }
        if kept.count > policy.keptFailedJobs { found.append("\(kept.count) failed jobs kept") }
        for id in firing.keys.sorted() where schedules[id] == nil {
            found.append("schedule \(id): fires, but does not exist")
        }
        return found
    }

    private func auditNeeds(_ job: Job, name: String) -> [String] {
        var found: [String] = []
        if job.needs.batches != job.batches.count { found.append("\(name): needs of \(job.needs.batches) batches") }
        var recounted = job.needs
        recounted.recount { job.batches[$0].state.isSettled }
        if recounted.open != job.needs.open {
            found.append("\(name): open needs \(job.needs.open) should be \(recounted.open)")
        }
        for (index, package) in job.packages.placed where package.state == .waiting && !job.needs.isOpen(index) {
            found.append("\(name) package \(index): waits for nothing")
        }
        return found
    }

    private func auditSharing(_ place: JobPlace, name: String) -> [String] {
        var found: [String] = []
        let job = jobs[place]
        if let tileset = job.tileset, sharing[tileset]?.contains(place) != true { found.append("\(name): not shared") }
        for index in job.parked {
            if job.batches[index].state != .ready { found.append("\(name) batch \(index): parked") }
            let holders = parked.filter { $0.value.contains(.batch(job: place, index: index)) }.keys
            if !holders.contains(where: { isLeased($0) }) {
                found.append("\(name) batch \(index): parked without a reason")
            }
        }
        // A plan fetches no tiles.
        for (index, batch) in job.batches.placed where batch.state == .leased && batch.role != .plan {
            if case .batch(let other, let twin)? = holder(of: place, batch: index) {
                found.append("\(name) batch \(index): its tiles are being fetched as \(other)/\(twin) too")
            }
        }
        return found
    }

    private func isLeased(_ work: WorkRef) -> Bool {
        guard case .batch(let job, let index) = work, jobs.contains(job) else { return false }
        return jobs[job].batches.indices.contains(index) && jobs[job].batches[index].state == .leased
    }
}
