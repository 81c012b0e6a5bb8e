import Digests
import Scheduling
import Tiles

/// What the checks remember: everything that was granted, made and accepted.
struct Checker {
    var problems: [String] = []
    /// Every offer that left, by its token.
    private(set) var offers: [LeaseToken: Offer] = [:]
    /// Who was granted each token, by the store.
    private(set) var granted: [LeaseToken: SessionID] = [:]
    /// Who took up each token.
    private(set) var taken: [LeaseToken: SessionID] = [:]
    /// What was made under each token.
    private(set) var results: [LeaseToken: [CommitResult]] = [:]
    /// What was accepted under each token.
    var accepted: [LeaseToken: Digest] = [:]
    /// Failed tiles, and the tiles of failed batches, of accepted work.
    var failed: [JobID: Set<TileID>] = [:]
    /// Tokens whose commit left at least once.
    var committed: Set<LeaseToken> = []
    /// Second leases.
    private(set) var speculativeLeases: Set<LeaseToken> = []
    /// Words of mergers about shards they could not read.
    private(set) var complaints: Set<Digest> = []
    var forgotten: Set<JobID> = []
    /// Sessions whose last message about work said that a limit of their machine is reached.
    var limited: Set<SessionID> = []
    /// The manifest that each accepted package was made from.
    var manifests: [Digest: Digest] = [:]
    /// Jobs whose failed work was requeued or dropped.
    var reconsidered: Set<JobID> = []

    mutating func made(_ result: CommitResult, under token: LeaseToken) { results[token, default: []].append(result) }

    mutating func took(_ token: LeaseToken, _ session: SessionID) {
        if let other = taken[token], other != session {
            problems.append("I5: token \(token) is worked on by two sessions")
        }
        taken[token] = session
    }

    mutating func backUp(_ token: LeaseToken, _ session: SessionID) {
        speculativeLeases.insert(token)
        granted[token] = session
    }

    mutating func offered(_ offer: Offer) { offers[offer.token] = offer }

    mutating func recordReport(of lostShards: [Digest]) { complaints.formUnion(lostShards) }

    func isLost(_ shard: Digest) -> Bool { complaints.contains(shard) }

    /// Notes a lease as the store has it.
    mutating func grant(_ token: LeaseToken?, to owner: SessionID, after old: LeaseToken?) {
        guard let token else { return problems.append("I5: leased without a token") }
        if let before = granted[token], before != owner { problems.append("I5: token \(token) is granted twice") }
        if let old, token < old { problems.append("I5: token \(token) is not above \(old)") }
        granted[token] = owner
    }

    /// Notes an accepted result; returns it.
    mutating func accept(_ digest: Digest?, under token: LeaseToken?) -> CommitResult? {
        guard let token, let digest else {
            problems.append("I5: accepted without token or digest")
            return nil
        }
        if let before = accepted[token], before != digest { problems.append("I5: two results accepted under \(token)") }
        accepted[token] = digest
        let result = results[token]?.first { $0.blob == digest }
        if result == nil { problems.append("I5: what was accepted under \(token) was not made under it") }
        return result
    }
}

extension Simulation {
    /// Checks a write just before it is durable.
    mutating func check(_ write: StoreWrite) {
        // Part of the reopening that follows.
        if case .resetBatches = write { return }
        trace.add(now)
        switch write {
        case .batch(let id, let index, let batch): check(batch, store.job(id)?.batches[index], of: id)
        case .package(let id, let index, let package): check(package, store.job(id)?.packages[index])
        case .orphan: marks.hit(.orphanNamed)
        case .failures: marks.hit(.failuresAccepted)
        case .job(let summary):
            if summary.state == .cancelled { marks.hit(.jobCancelled) }
            if summary.state.isFinal { endedAt[summary.id] = now }
            if summary.state == .failed { marks.hit(.jobFailed) }
        case .forget(let id):
            if let job = store.job(id), let wrong = verdict(on: job) { problem(wrong) }
            checker.forgotten.insert(id)
        case .reopen(let job, _): trace.add(job.summary.id)
        case .addBatches(_, _, let batches): trace.add(batches.count)
        case .insertJob, .resetBatches, .dropped, .schedule, .firing, .dropSchedule, .step, .originLimit,
            .originBlocked:
            break
        }
    }

    private mutating func check(_ batch: Batch, _ old: Batch?, of id: JobID) {
        guard let old else { return problem("I10: a write about an unknown batch of job \(id)") }
        trace.add(batch.token?.rawValue ?? 0)
        trace.add(UInt64(batch.state.rawValue))
        if batch.losses > old.losses { marks.hit(.leaseExpired) }
        if old.state == .done, batch != old {
            if let digest = old.digest, checker.isLost(digest) {
                marks.hit(.shardRefetched)
            } else if old.result.failed > 0, checker.reconsidered.contains(id) {
                marks.hit(.failedWorkReconsidered)
            } else {
                problem("I5: batch \(old.cell) of job \(id) was done and changed to \(batch.state)")
            }
        }
        switch batch.state {
        case .leased: checker.grant(batch.token, to: batch.owner, after: old.token)
        case .done:
            if old.state != .done { progressedAt = now }
            guard case .fetch(_, let counts, let failures)? = checker.accept(batch.digest, under: batch.token) else {
                return
            }
            if counts != batch.result { problem("I5: batch \(batch.cell) of job \(id) is booked with other numbers") }
            if let token = batch.token, checker.speculativeLeases.contains(token) { marks.hit(.speculativeWon) }
            checker.failed[id, default: []].formUnion(failures.map(\.tile))
        case .dead: checker.failed[id, default: []].formUnion(tiles(of: batch, in: id))
        case .split where batch.role == .plan && batch.digest != nil:
            marks.hit(.rangesPlanned)
            progressedAt = now
            _ = checker.accept(batch.digest, under: batch.token)
        case .split: marks.hit(.batchCut)
        case .ready: if batch.attempts > old.attempts { marks.hit(.tilesTriedAgain) }
        case .backoff: if batch.trouble?.cause == "tiles-failed" { marks.hit(.tilesTriedAgain) }
        }
    }

    private mutating func check(_ package: Package, _ old: Package?) {
        guard let old else { return problem("I10: a write about an unknown package") }
        trace.add(UInt64(package.state.rawValue))
        if package.state.isPublished, !old.state.isPublished { progressedAt = now }
        switch package.state {
        case .leased: checker.grant(package.token, to: package.owner, after: old.token)
        case .publishing where package.merged != old.merged && package.token == nil:
            checkSkipped(package)
        case .publishing where package.merged != old.merged:
            _ = checker.accept(package.merged?.digest, under: package.token)
            if let merged = package.merged?.digest { checker.manifests[merged] = package.manifest }
        case .manifest where old.state == .backoff: marks.hit(.manifestRewritten)
        default: break
        }
    }

    /// A package that goes to the catalog without a merge must be what the same manifest was merged to before.
    private mutating func checkSkipped(_ package: Package) {
        marks.hit(.mergeSkipped)
        let isKnown = store.state.jobs.contains { job in
            job.packages.contains {
                $0.state.isPublished && $0.manifest == package.manifest && $0.merged == package.merged
            }
        }
        if !isKnown { problem("I1: package \(package.id) was never merged from its manifest") }
        if let merged = package.merged?.digest { checker.manifests[merged] = package.manifest }
    }

    /// Looks at what leaves the coordinator.
    mutating func observe(_ message: Outgoing, to session: SessionID) {
        switch message {
        case .offer(let offer):
            checker.offered(offer)
            noteBackup(offer, to: session)
            noteLabels(offer, to: session)
            noteMerge(offer, to: session)
        case .stale: marks.hit(.staleCommit)
        case .welcome(let adopted): if !adopted.isEmpty { marks.hit(.leaseAdopted) }
        case .ack(let token, _): if checker.accepted[token] != nil { marks.hit(.ackRepeated) }
        case .pong, .grants, .unknownSession: break
        }
        trace.add(session)
    }

    /// A merger must write every format of what it is offered: what it leaves out would be missing from the package.
    private mutating func noteMerge(_ offer: Offer, to session: SessionID) {
        guard case .merge(let package, _, _) = offer.work, let spec = spec(of: offer.job), mutant != .mergesTwice,
            let node = nodes.firstIndex(where: { $0.worker?.session == session })
        else { return }
        let formats = spec.formats(of: package)
        if !formats.allSatisfy(nodes[node].exports.contains) {
            problem("I13: w\(node), which writes \(nodes[node].exports), is to write \(formats)")
        }
        if formats.isEmpty, nodes[node].exports.isEmpty { marks.hit(.mergerSpared) }
    }

    /// A job with labels is not for every worker.
    private mutating func noteLabels(_ offer: Offer, to session: SessionID) {
        guard let labels = spec(of: offer.job)?.submission.labels, mutant != .mergesTwice, !labels.isEmpty,
            let node = nodes.firstIndex(where: { $0.worker?.session == session })
        else { return }
        if !labels.allSatisfy(nodes[node].labels.contains) {
            problem("I16: w\(node), whose labels are \(nodes[node].labels), gets work of a job on \(labels)")
        }
        if nodes.contains(where: { $0.worker != nil && $0.labels.isEmpty }) { marks.hit(.labelHeeded) }
    }

    /// A second lease is in no row.
    private mutating func noteBackup(_ offer: Offer, to session: SessionID) {
        guard case .fetch(let index, _, _, _) = offer.work, let row = store.job(offer.job)?.batches,
            row.indices.contains(index),
            row[index].token != offer.token,
            // An offer whose lease ended in the same tick, when the batch was granted again.
            row[index].token.map({ $0 < offer.token }) ?? true
        else { return }
        marks.hit(.speculativeGranted)
        if row[index].owner == session {
            problem("I5: \(offer.token) is a backup for the holder of \(row[index].cell)")
        }
        checker.backUp(offer.token, session)
    }

    /// An acknowledgement that a worker believes must be in the store (I8).
    mutating func checkAcknowledged(_ token: LeaseToken, _ digest: Digest) {
        guard checker.accepted[token] != digest else { return }
        // A package without a single tile is acknowledged and given up; its job may go on for other packages.
        if let offer = checker.offers[token], case .merge(let package, _, _) = offer.work {
            let job = store.job(offer.job)
            if job?.summary.state.isFinal == true || job?.packages[package].state == .failed { return }
        }
        problem("I8: the acknowledged result of \(token) is not in the store")
    }

    /// Memory and store must agree after every tick (I10); costs a pass, so not every time in large worlds.
    mutating func checkMemory() {
        guard let coordinator, coordinator.held == nil, coordinator.turn.isEmpty, handed % (auditEvery * 3) == 0 else {
            return
        }
        for job in store.state.jobs where !job.summary.state.isFinal {
            let id = job.summary.id
            if coordinator.scheduler.batches(of: id) != job.batches {
                problem("I10: batches of job \(id) differ in the store")
            }
            if coordinator.scheduler.packages(of: id) != job.packages {
                problem("I10: packages of job \(id) differ in the store")
            }
            if coordinator.scheduler.summary(of: id)?.state != job.summary.state {
                problem("I10: job \(id) is in another state in the store")
            }
        }
    }

    /// A scheduler made of what the store says must be consistent (I10).
    mutating func checkRestored() {
        if let wrong = coordinator?.scheduler.audit().first { problem("I10: restored with \(wrong)") }
        checkMemory()
    }

    /// Every blob that an unfinished job or the catalog needs is whole, unless a fault took it (I3, I8).
    mutating func checkNamed(_ occasion: String) {
        for job in store.state.jobs where !job.summary.state.isFinal || job.summary.keepsBlobs {
            for digest in job.needed where blobs[digest] == nil && !blobs.taken.contains(digest) {
                problem("I8: after \(occasion) the blob \(digest) that job \(job.summary.id) needs is gone")
            }
        }
        for digest in catalog.values.joined() where torn(digest) {
            problem("I3: after \(occasion) the published package \(digest) is torn")
        }
    }

    /// A package is a hard link to its blob: it outlives the blob's name, not its missing flush.
    private func torn(_ digest: Digest) -> Bool { blobs[digest]?.isDamaged == true }

    /// A request must not come from a worker that could know that the job was stopped (I12).
    mutating func observe(requestFor offer: Offer, by worker: Int) {
        guard let since = silenced[offer.job] else { return }
        let travel = swarm.delay.upperBound * 10
        guard now > since + 5_000 + policy.heartbeat + 2 * travel else { return }
        let undisturbed = since - 2 * travel
        if nodes[worker].troubledAt < undisturbed, coordinatorTroubledAt < undisturbed {
            problem("I12: w\(worker) asks for job \(offer.job) \(now - since) ms after it was stopped")
        }
    }
}

extension StoredJob {
    /// Blobs the job cannot do without; partial shards and orphans are not among them.
    fileprivate var needed: [Digest] {
        batches.compactMap(\.digest)
            + packages.flatMap { package -> [Digest] in
                switch package.state {
                case .ready, .leased: [package.manifest].compactMap(\.self)
                // What was not merged because the catalog has it needs no blob.
                case .publishing: package.token == nil ? [] : package.merged?.digests ?? []
                default: []
                }
            }
    }
}
