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
                if case .batch(place, _) = lease.work { counts.inFlightDone += lease.done }
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
            let canRun = job.summary.state == .fetching && job.summary.priority >= 0 && job.summary.counts[.ready] > 0
            let isParked = job.origin.map { parked[$0.name]?.contains(place) == true } ?? false
            if canRun && !job.isQueued && !isParked { found.append("\(name): ready batches but no turn") }
        }
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
}
