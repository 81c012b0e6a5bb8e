import Errors
import HeapModule
import Tiles

extension Scheduler {
    mutating func submit(_ submission: JobSubmission, now: Tick) {
        if !submission.requestID.isEmpty, let id = requests[submission.requestID] {
            if let firing = submission.firing { setNextFiring(after: firing) }
            effects.append(.submitted(job: id, existing: true))
            return
        }
        if submission.requestID.isEmpty, let id = identicalJob(of: submission) {
            effects.append(.submitted(job: id, existing: true))
            return
        }
        lastJob = lastJob.next
        let summary = JobSummary(
            id: lastJob, requestID: submission.requestID, priority: max(submission.priority, -1),
            weight: submission.weight,
            allowedMissing: submission.allowedMissing, after: submission.after, identity: submission.identity,
            sourceVersion: submission.sourceVersion)
        var stored = StoredJob(
            summary: summary, batches: submission.batches.map(Batch.init), packages: submission.packages,
            payload: submission.payload, needs: submission.needs, tileset: submission.tileset,
            origin: submission.origin,
            formats: submission.formats)
        stored.asksChangedOnly = submission.asksChangedOnly
        stored.labels = submission.labels
        stored.publishesTogether = submission.publishesTogether
        let place = add(stored)
        openOrigin(place)
        queue(place)
        stored.summary = jobs[place].summary
        store(.insertJob(stored))
        effects.append(.submitted(job: summary.id, existing: false))
        recordFiring(submission.firing, job: summary.id)
        updateFollowers(now: now)
        advance(place, now: now)
    }

    mutating func cancel(_ id: JobID, now: Tick) {
        guard let job = places[id], !jobs[job].summary.state.isFinal else { return }
        end(job, as: .cancelled, reason: "cancelled by request", now: now)
    }

    /// Removes an ended job: its rows, its request id, the tokens of its packages.
    mutating func forget(_ id: JobID) {
        guard let job = places[id], jobs[job].summary.state.isFinal else { return }
        guard !releaseEndedJob(job) else { return }
        for token in jobs[job].packages.compactMap(\.token) { ended[token] = nil }
        forgetMadePackages(job)
        for package in jobs[job].packages.indices { writing[.package(job: job, index: package)] = nil }
        let request = jobs[job].summary.requestID
        if requests[request] == id { requests[request] = nil }
        places[id] = nil
        if finished.first == id { finished.removeFirst() } else { finished.removeAll { $0 == id } }
        removeShardSource(id)
        jobs.forget(job)
        store(.forget(id))
    }

    /// Advances a job when its batches or packages allow it.
    mutating func advance(_ job: JobPlace, now: Tick) {
        let counts = jobs[job].summary.counts
        switch jobs[job].summary.state {
        case .fetching:
            let isHopeless = counts.stored + counts.empty == 0 && counts.failed >= SchedulerPolicy.hopelessTiles
            let isRefused = isHopeless && !jobs[job].summary.leavesOut && jobs[job].lacksTooMuch
            guard jobs[job].hasEndedFetching || isRefused else {
                startMerges(job)
                return
            }
            // With several packages each of them is judged separately, unless no tile was stored.
            if jobs[job].lacksTooMuch, jobs[job].packages.count == 1 || counts.stored == 0 {
                end(job, as: .failed, reason: reasonForMissing(job), now: now)
                return
            }
            if counts.stored == 0, counts.tiles > 0 {
                end(job, as: .failed, reason: "\(FailureCause.noTiles): \(reasonForNothing(job))", now: now)
                return
            }
            jobs[job].summary.state = .merging
            storeJob(job)
            startMerges(job)
            advance(job, now: now)
        case .merging, .publishing:
            startMerges(job)
            advancePackages(job, now: now)
        case .done, .failed, .cancelled: break
        }
    }

    /// Ends a job: its leases become invalid, its workers get a message, and data that is only in memory is dropped.
    mutating func end(_ job: JobPlace, as state: JobState, reason: String, now: Tick) {
        for index in jobs[job].batches.indices {
            guard let token = jobs[job].batches[index].token else { continue }
            if jobs[job].batches[index].state == .leased {
                endCompetingLeases(job, batch: index, now: now)
                jobs[job].move(index, to: .ready)
            }
            ended[token] = nil
        }
        for token in jobs[job].lost { ended[token] = nil }
        for index in jobs[job].packages.indices where !jobs[job].packages[index].state.isPublished {
            if jobs[job].packages[index].state == .leased, let token = jobs[job].packages[index].token {
                cancelLease(token, now: now)
            }
            movePackage(job, package: index, by: .jobEnded(Trouble(cause: "job-\(state.rawValue)", detail: reason)))
            storePackage(job, package: index)
        }
        jobs[job].summary.state = state
        jobs[job].summary.reason = reason
        keepSources(of: job)
        let baseline = baseline(of: job)
        jobs[job].batches = Batches()
        jobs[job].lost = []
        jobs[job].ready = []
        jobs[job].parked = []
        jobs[job].isQueued = false
        closeOrigin(job)
        finished.append(jobs[job].summary.id)
        endFiring(of: jobs[job].summary)
        keepOrRelease(job, baseline: baseline)
        updateFollowers(now: now)
    }

    /// Takes a live lease away from its worker and tells the worker.
    mutating func cancelLease(_ token: LeaseToken, now: Tick) {
        guard let lease = close(token, now: now) else { return }
        if sessions[lease.session] != nil { send(.pong(cancelled: [token]), to: lease.session) }
    }

    private func reasonForNothing(_ job: JobPlace) -> String {
        let counts = jobs[job].summary.counts
        let what = jobs[job].summary.sourceVersion == nil ? "could not be fetched" : "cannot be used"
        let first = jobs[job].firstTrouble.map { "; first: \($0)" } ?? ""
        let failed = counts.failed == 0 ? "" : ", \(counts.failed) \(what)\(first)"
        return "the origin has no tile in the area: \(counts.empty) of \(counts.tiles) tiles are empty\(failed);"
            + " check the area, the tileset's url and the zooms"
    }

    private func reasonForMissing(_ job: JobPlace) -> String {
        let counts = jobs[job].summary.counts
        let share = Self.percent(Double(counts.failed) / Double(max(counts.tiles, 1)))
        let allowed = Self.percent(jobs[job].summary.allowedMissing)
        let first = jobs[job].firstTrouble.map { "; first: \($0)" } ?? ""
        let what = jobs[job].summary.sourceVersion == nil ? "could not be fetched" : "cannot be used"
        return "\(counts.failed) of \(counts.tiles) tiles \(what) (\(share) %, allowed \(allowed) %)\(first)"
    }

    /// A share as a percentage with up to two decimals, without Foundation.
    private static func percent(_ share: Double) -> String {
        let hundredths = Int((min(max(share, 0), 1) * 10_000).rounded(.up))
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        return rest == 0 ? "\(whole)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }
}
