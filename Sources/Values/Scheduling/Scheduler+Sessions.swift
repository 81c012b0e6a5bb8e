import DequeModule
import HeapModule

extension Scheduler {
    /// Records the time of a message from a session; a silent session can get work again.
    ///
    /// - Returns: Whether the session is known. An unknown one is asked to send hello.
    private mutating func recordMessage(from id: SessionID, now: Tick) -> Bool {
        guard sessions[id] != nil else {
            send(.unknownSession, to: id)
            return false
        }
        sessions[id]?.lastHeard = now
        if sessions[id]?.isSuspect == true {
            sessions[id]?.isSuspect = false
            enlist(id, now: now)
        }
        return true
    }

    mutating func hello(_ id: SessionID, profile: SessionProfile, held: [LeaseToken], now: Tick) {
        guard id != 0 else { return }
        if sessions[id] == nil {
            sessions[id] = Session(id: id, profile: profile, lastHeard: now, lastMoved: now)
            setAlarm(.session(id), at: now + policy.heartbeat * SchedulerPolicy.missedHeartbeats)
        }
        _ = recordMessage(from: id, now: now)
        sessions[id]?.profile = profile
        sessions[id]?.profile.exports.sort()
        sessions[id]?.profile.labels.sort()
        sessions[id]?.credit = 0
        sessions[id]?.mergeCredit = 0
        // Leases of an earlier run that the worker does not hold: their offers were lost with the sockets of that run.
        for token in unclaimed.removeValue(forKey: id) ?? [] where leases[token] != nil {
            sessions[id]?.leases.append(token)
            if !held.contains(token) { returnToQueue(token, now: now) }
        }
        var adopted: [LeaseToken] = []
        for token in held where leases[token]?.session == id {
            leases[token]?.deadline = now + policy.lease
            adopted.append(token)
        }
        send(.welcome(adopted: adopted), to: id)
    }

    mutating func ready(_ id: SessionID, credit: UInt32, mergeCredit: UInt32, full: String, now: Tick) {
        guard recordMessage(from: id, now: now) else { return }
        sessions[id]?.credit = min(credit, 1_024)
        sessions[id]?.mergeCredit = min(mergeCredit, 1_024)
        sessions[id]?.full = full
        enlist(id, now: now)
    }

    mutating func progress(_ id: SessionID, reports: [LeaseProgress], now: Tick) {
        guard recordMessage(from: id, now: now) else { return }
        var cancelled: [LeaseToken] = []
        for report in reports {
            guard let lease = leases[report.token], lease.session == id else {
                if ended[report.token].map({ isAccepted(report.token, work: $0) }) != true {
                    cancelled.append(report.token)
                }
                continue
            }
            let done = max(lease.done, min(report.done, lease.tiles))
            if done > lease.done || report.bytes > lease.bytes {
                leases[report.token]?.done = done
                leases[report.token]?.bytes = max(lease.bytes, report.bytes)
                leases[report.token]?.movedAt = now
                sessions[id]?.lastMoved = now
                if case .batch(let job, _) = lease.work, !lease.isSpeculative {
                    jobs[job].summary.counts.inFlightDone += done - lease.done
                }
            }
        }
        // A second pass, because progress on one lease also renews leases that wait behind it.
        for report in reports { renew(report.token, heldBy: id, now: now) }
        send(.pong(cancelled: cancelled), to: id)
    }

    /// Renews a lease whose worker makes progress: on the lease itself or, before the lease has started, on another
    /// one.
    private mutating func renew(_ token: LeaseToken, heldBy id: SessionID, now: Tick) {
        excuseWaiting(token, now: now)
        guard let lease = leases[token], lease.session == id, let session = sessions[id] else { return }
        let stall = if case .package = lease.work { SchedulerPolicy.mergeStall } else { SchedulerPolicy.stall }
        let waits = lease.done == 0 && lease.bytes == 0 && now - session.lastMoved <= stall
        if now - lease.movedAt <= stall || waits { leases[token]?.deadline = now + policy.lease }
    }

    mutating func bye(_ id: SessionID, now: Tick) {
        guard let session = sessions[id] else { return }
        for token in session.leases { returnToQueue(token, now: now) }
        forgetSession(id)
    }

    mutating func forgetSession(_ id: SessionID) {
        sessions[id] = nil
    }

    mutating func drain(_ id: SessionID, isOn: Bool, now: Tick) {
        guard sessions[id] != nil else { return }
        sessions[id]?.isDraining = isOn
        send(.pong(cancelled: []), to: id)
        enlist(id, now: now)
    }

    mutating func giveBack(_ id: SessionID, tokens: [LeaseToken], now: Tick) {
        guard recordMessage(from: id, now: now) else { return }
        for token in tokens where leases[token]?.session == id { returnToQueue(token, now: now) }
    }

    /// The socket refused these offers: the worker never received them.
    ///
    /// The session gets no more offers until its next message.
    mutating func undelivered(_ id: SessionID, tokens: [LeaseToken], now: Tick) {
        sessions[id]?.credit = 0
        sessions[id]?.mergeCredit = 0
        for token in tokens where leases[token]?.session == id { returnToQueue(token, now: now) }
    }

    /// The coordinator was stalled: every lease and session gets a full period from now on.
    mutating func renewAllLeases(now: Tick) {
        for token in leases.keys.sorted() { leases[token]?.deadline = now + max(policy.lease, policy.restartGrace) }
        for id in sessions.keys { sessions[id]?.lastHeard = now }
    }

    /// Queues a session for offers if it can take any.
    mutating func enlist(_ id: SessionID, now: Tick) {
        guard let session = sessions[id] else { return }
        if session.profile.canFetch, !session.isQueuedToFetch, canFetch(session, now: now) {
            sessions[id]?.isQueuedToFetch = true
            fetchers.append(id)
        }
        if session.profile.canMerge, !session.isQueuedToMerge, canMerge(session, now: now) {
            sessions[id]?.isQueuedToMerge = true
            mergers[session.profile.mergeNeeds, default: []].append(id)
        }
    }

    /// Whether a session can take an offer of a batch.
    func canFetch(_ session: Session, now: Tick) -> Bool {
        session.credit > 0 && isAvailable(session, now: now)
    }

    /// Whether a session can take an offer of a merge.
    func canMerge(_ session: Session, now: Tick) -> Bool {
        (session.credit > 0 || session.mergeCredit > 0) && isAvailable(session, now: now)
    }

    private func isAvailable(_ session: Session, now: Tick) -> Bool {
        !session.isSuspect && !session.isDraining && (session.pausedUntil.map { $0 <= now } ?? true)
    }
}
