import Digests
import Errors
import HeapModule

extension Scheduler {
    /// Ends a lease at no cost to the work.
    mutating func returnToQueue(_ token: LeaseToken, now: Tick) {
        guard let lease = close(token, now: now) else { return }
        recordEnded(token, work: lease.work)
        if lease.isSpeculative { return endSpeculativeLease(lease) }
        switch lease.work {
        case .batch(let job, let index):
            if promoteSpeculativeLease(job, batch: index) { return }
            jobs[job].move(index, to: .ready)
            storeBatch(job, batch: index)
            queue(job)
        case .package(let job, let index):
            movePackage(job, package: index, by: .returned)
            storePackage(job, package: index)
            startNextStep(job, package: index)
        }
    }

    /// Ends a lease whose worker was silent or made no progress.
    mutating func expireLease(_ token: LeaseToken, now: Tick) {
        guard let lease = close(token, now: now) else { return }
        let name = sessions[lease.session]?.profile.name ?? "unknown"
        let trouble = Trouble(cause: "lease-expired", detail: "worker \(name) made no progress on lease \(token)")
        recordEnded(token, work: lease.work)
        if lease.isSpeculative { return endSpeculativeLease(lease) }
        retry(lease.work, trouble: trouble, isLoss: true, isDead: false, now: now)
    }

    /// A worker reported that its attempt failed.
    mutating func fail(
        _ id: SessionID, token: LeaseToken, trouble: Trouble, retriable: Bool, lostShards: [Digest] = [],
        now: Tick
    ) {
        guard let lease = leases[token], lease.session == id else { return }
        _ = close(token, now: now)
        recordEnded(token, work: lease.work)
        sessions[id]?.lastHeard = now
        if FailureCause.local.contains(trouble.cause) {
            sessions[id]?.pausedUntil = now + SchedulerPolicy.localFailurePause
            sessions[id]?.pauseReason = "\(trouble.cause): \(trouble.detail)"
            setAlarm(.pause(id), at: now + SchedulerPolicy.localFailurePause)
        }
        if case .batch(let job, _) = lease.work, FailureCause(named: trouble.cause) == .sourceChanged {
            if lease.isSpeculative { endSpeculativeLease(lease) }
            return endForSource(job, by: id, found: trouble.detail, now: now)
        }
        if case .batch(let job, _) = lease.work, endsForRefusal(job, lease, trouble: trouble, by: id, now: now) {
            return
        }
        if lease.isSpeculative { return endSpeculativeLease(lease) }
        if case .package(let job, let index) = lease.work, FailureCause.lostShard.contains(trouble.cause) {
            refetch(job, for: index, lost: Set(lostShards), cause: trouble.cause, now: now)
        }
        let mayHeal = retriable && !isBeyondAll(lease.work, trouble: trouble, by: id)
        if case .batch(let job, let index) = lease.work, mayHeal, isLack(trouble), hasAble(job) {
            // Another worker has what this worker lacks.
            jobs[job].batches[index].trouble = trouble
            return delayBatch(job, batch: index, trouble: trouble, now: now)
        }
        if postpone(lease.work, trouble: trouble, retriable: mayHeal, now: now) { return }
        retry(lease.work, trouble: trouble, isLoss: false, isDead: !mayHeal, now: now)
    }

    /// Whether no connected worker can do the work: each has reported that it lacks what the job needs, and none has
    /// ever had it.
    ///
    /// A retriable cause of the job means that the worker lacks something, for example a secret in its environment.
    private mutating func isBeyondAll(_ work: WorkRef, trouble: Trouble, by id: SessionID) -> Bool {
        let job = work.job
        guard isLack(trouble) else { return false }
        jobs[job].unable.insert(id)
        switch work {
        case .batch: return jobs[job].summary.counts[.done] == 0 && !hasAble(job)
        case .package(_, let index):
            let formats = jobs[job].formats(of: index)
            return jobs[job].packages.allSatisfy { $0.merged == nil }
                && !able(job).contains { $0.profile.canMerge && formats.allSatisfy($0.profile.exports.contains) }
        }
    }

    /// Whether the cause is of the job.
    ///
    /// A retriable one means that the worker lacks something.
    private func isLack(_ trouble: Trouble) -> Bool { FailureCause(named: trouble.cause).fault == .job }

    /// Workers that have not reported that they lack what the job needs.
    private func able(_ job: JobPlace) -> [Session] {
        sessions.values.filter {
            !$0.isSuspect && !$0.isDraining && !jobs[job].unable.contains($0.id) && hasLabels($0, of: job)
        }
    }

    private func hasAble(_ job: JobPlace) -> Bool { able(job).contains(where: \.profile.canFetch) }

    /// A commit that is refused although its lease is current.
    ///
    /// It counts as a failed attempt.
    mutating func refuse(_ id: SessionID, token: LeaseToken, trouble: Trouble, now: Tick) {
        fail(id, token: token, trouble: trouble, retriable: true, now: now)
        send(.stale(token, reason: trouble.cause), to: id)
    }

    mutating func recordEnded(_ token: LeaseToken, work: WorkRef) {
        ended[token] = work
        scheduleForgetting(token, job: work.job)
    }

    /// Schedules a token of ``ended`` for removal: with its job, or when too many newer ones exist.
    mutating func scheduleForgetting(_ token: LeaseToken, job: JobPlace) {
        jobs[job].lost.append(token)
        guard jobs[job].lost.count > policy.rememberedLosses + 2 * jobs[job].batches.count else { return }
        let half = jobs[job].lost.count / 2
        for old in jobs[job].lost.prefix(half) where leases[old] == nil { ended[old] = nil }
        jobs[job].lost.removeFirst(half)
    }

    /// Puts work back for another attempt, or marks it as failed permanently.
    mutating func retry(_ work: WorkRef, trouble: Trouble, isLoss: Bool, isDead: Bool, now: Tick) {
        switch work {
        case .batch(let job, let index):
            guard jobs[job].batches.indices.contains(index) else { return }
            jobs[job].batches[index].trouble = trouble
            guard isDead || FailureCause(named: trouble.cause).costsAttempt else {
                if !promoteSpeculativeLease(job, batch: index) {
                    delayBatch(job, batch: index, trouble: trouble, now: now)
                }
                return
            }
            let isLast = jobs[job].batches[index].countEnd(isLoss: isLoss, policy: policy)
            if isDead || isLast {
                endCompetingLeases(job, batch: index, now: now)
                splitOrMarkDead(job, batch: index, trouble: trouble, now: now)
            } else if promoteSpeculativeLease(job, batch: index) {
                return
            } else if isLoss, jobs[job].batches[index].losses == 1 {
                jobs[job].move(index, to: .ready)
                storeBatch(job, batch: index)
                queue(job)
            } else {
                let batch = jobs[job].batches[index]
                let attempt = min(batch.attempts, 100) + min(batch.losses, 100)
                let wait = policy.backoff(
                    job: jobs[job].summary.id, index: index.number, attempt: attempt, salt: batch.token?.rawValue ?? 0)
                jobs[job].move(index, to: .backoff)
                storeBatch(job, batch: index)
                setAlarm(.batch(job: job, index: index), at: now + wait)
            }
        case .package(let job, let index):
            let state = jobs[job].packages[index].state
            guard !jobs[job].summary.state.isFinal, state != .waiting, state != .failed else { return }
            jobs[job].packages[index].trouble = trouble
            if FailureCause.lostManifest.contains(trouble.cause) { jobs[job].packages[index].manifest = nil }
            guard isDead || FailureCause(named: trouble.cause).costsMerge else {
                movePackage(job, package: index, by: .postponed)
                storePackage(job, package: index)
                let wait = policy.backoff(job: jobs[job].summary.id, index: -1 - index.number, attempt: 1)
                return setAlarm(.package(job: job, index: index), at: now + wait)
            }
            let isLast = jobs[job].packages[index].countEnd(isLoss: isLoss, policy: policy)
            if isDead || isLast {
                failPackage(job, package: index, now: now)
            } else {
                movePackage(job, package: index, by: .postponed)
                storePackage(job, package: index)
                setAlarm(.package(job: job, index: index), at: now + backoff(job, package: index))
            }
        }
    }

    /// Ends an attempt without counting it.
    ///
    /// The batch waits.
    private mutating func delayBatch(_ job: JobPlace, batch index: BatchIndex, trouble: Trouble, now: Tick) {
        let (id, salt) = (jobs[job].summary.id, jobs[job].batches[index].token?.rawValue ?? 0)
        jobs[job].move(index, to: .backoff)
        storeBatch(job, batch: index)
        // A server needs time. Another machine does not, and neither does a file whose lock was already waited for.
        let cause = FailureCause(named: trouble.cause)
        let isLocal = cause.fault == .worker || cause == .originBusy || isLack(trouble)
        let wait =
            isLocal
            ? policy.backoff(job: id, index: index.number, attempt: 1, salt: salt)
            : policy.throttledWait(job: id, index: index.number, salt: salt)
        setAlarm(.batch(job: job, index: index), at: now + wait)
    }

    func backoff(_ job: JobPlace, package: PackageIndex) -> Int64 {
        let row = jobs[job].packages[package]
        return policy.backoff(
            job: jobs[job].summary.id, index: -1 - package.number,
            attempt: min(row.attempts, 100) + min(row.losses, 100))
    }

    mutating func failPackage(_ job: JobPlace, package: PackageIndex, now: Tick) {
        movePackage(job, package: package, by: .failed)
        storePackage(job, package: package)
        advance(job, now: now)
    }

    mutating func recordFirstFailure(_ text: String, of job: JobPlace) {
        if jobs[job].firstTrouble == nil { jobs[job].firstTrouble = text }
    }

    // MARK: - Time

    mutating func fireAlarms(now: Tick) {
        while let alarm = alarms.min, alarm.due <= now {
            alarms.removeMin()
            switch alarm.subject {
            case .lease(let token):
                guard let lease = leases[token] else { break }
                if lease.end <= now { expireLease(token, now: now) } else { setAlarm(.lease(token), at: lease.end) }
            case .batch(let job, let index):
                guard jobs.contains(job), jobs[job].batches.indices.contains(index),
                    jobs[job].batches[index].state == .backoff
                else {
                    break
                }
                jobs[job].move(index, to: .ready)
                storeBatch(job, batch: index)
                queue(job)
            case .package(let job, let index):
                guard jobs.contains(job), !jobs[job].summary.state.isFinal else { break }
                if [.backoff, .publishing, .manifest].contains(jobs[job].packages[index].state) {
                    startNextStep(job, package: index)
                }
            case .session(let id): checkSession(id, now: now)
            case .pause(let id): endPause(id, now: now)
            case .rates: rateAlarm = nil
            }
        }
    }

    private mutating func checkSession(_ id: SessionID, now: Tick) {
        guard let session = sessions[id] else { return }
        let patience = policy.heartbeat * SchedulerPolicy.missedHeartbeats
        if now - session.lastHeard < patience {
            setAlarm(.session(id), at: session.lastHeard + patience)
        } else if now - session.lastHeard >= SchedulerPolicy.forgetSession, session.leases.isEmpty {
            forgetSession(id)
        } else {
            sessions[id]?.isSuspect = true
            setAlarm(.session(id), at: now + patience)
        }
    }

    private mutating func endPause(_ id: SessionID, now: Tick) {
        guard let end = sessions[id]?.pausedUntil, end <= now else { return }
        sessions[id]?.pausedUntil = nil
        sessions[id]?.pauseReason = ""
        enlist(id, now: now)
    }
}

/// Work with counted failures.
private protocol Attempted {
    var attempts: UInt8 { get set }
    var losses: UInt8 { get set }
}

extension Attempted {
    /// Counts one failure.
    ///
    /// Returns whether it was the last one allowed.
    fileprivate mutating func countEnd(isLoss: Bool, policy: SchedulerPolicy) -> Bool {
        if isLoss { losses = min(losses, 254) + 1 } else { attempts = min(attempts, 254) + 1 }
        return attempts >= policy.maxAttempts || losses >= policy.maxLosses
    }
}

extension Batch: Attempted {}
extension Package: Attempted {}
