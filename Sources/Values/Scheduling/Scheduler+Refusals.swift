import Errors

/// A source that refuses is not asked again by every other batch.
extension Scheduler {
    /// How long a session gets no work after its server refused everything, while other sessions may find tiles.
    static let refusalPause: Int64 = 5_000

    /// Handles the report that a source refuses.
    ///
    /// - Returns: Whether the report was handled: the job has ended, or the batch waits.
    mutating func endsForRefusal(
        _ job: JobPlace, _ lease: Lease, trouble: Trouble, by id: SessionID, now: Tick
    ) -> Bool {
        let cause = FailureCause(named: trouble.cause)
        guard cause.endsJob || cause == .allRefused else { return false }
        jobs[job].refused.insert(id)
        if cause.endsJob || isRefusedByAll(job) {
            if lease.isSpeculative { endSpeculativeLease(lease) }
            recordFirstFailure("\(trouble.cause): \(trouble.detail)", of: job)
            end(job, as: .failed, reason: "\(trouble.cause): \(trouble.detail)", now: now)
            return true
        }
        // Other workers may get tiles: then the next offer says so, and single tiles are refused instead.
        if lease.isSpeculative {
            endSpeculativeLease(lease)
        } else if case .batch(_, let index) = lease.work, !promoteSpeculativeLease(job, batch: index) {
            jobs[job].batches[index].trouble = trouble
            jobs[job].move(index, to: .ready)
            storeBatch(job, batch: index)
            queue(job)
        }
        if !jobs[job].hasFoundTiles {
            sessions[id]?.pausedUntil = now + Self.refusalPause
            sessions[id]?.pauseReason = "\(trouble.cause): \(trouble.detail)"
            setAlarm(.pause(id), at: now + Self.refusalPause)
        }
        return true
    }

    /// Whether the job has no tile, and every session that works on it reports the same.
    private func isRefusedByAll(_ job: JobPlace) -> Bool {
        guard !jobs[job].hasFoundTiles else { return false }
        return jobs[job].leased.allSatisfy { token in
            guard let lease = leases[token], case .batch = lease.work else { return true }
            return jobs[job].refused.contains(lease.session)
        }
    }
}

extension Job {
    /// Whether a result has tiles, or says of tiles that there are none.
    var hasFoundTiles: Bool { summary.counts.stored + summary.counts.empty > 0 }
}
