import Digests
import Scheduling
import Testing
import Tiles

/// A scheduler with a hand on the clock, and short names for what tests do to it.
struct Bench {
    var scheduler: Scheduler
    var store = StoredState()
    var now = Tick(milliseconds: 0)
    var sent: [(session: SessionID, message: Outgoing)] = []
    var other: [Effect] = []
    var cuts: [CutRequest] = []
    var holders: ShareHolders?
    private var releases: [JobID] = []
    var fires: [(id: String, due: Int64)] = []

    init(policy: SchedulerPolicy = SchedulerPolicy(), epoch: UInt32 = 1) {
        scheduler = Scheduler(policy: policy, epoch: epoch, now: Tick(milliseconds: 0))
    }

    /// Applies an event, keeps the store and checks the books.
    mutating func on(_ event: Event) {
        take(scheduler.handle(event, now: now))
        #expect(scheduler.audit() == [])
    }

    private mutating func take(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .store(let write): store.apply(write)
            case .holders(let all): holders = all
            case .send(let session, let message): sent.append((session, message))
            case .split(let cut):
                cuts.append(cut)
            case .fire(let id, let due): fires.append((id, due))
            case .release(let id):
                releases.append(id)
                other.append(effect)
            case .submitted, .writeManifest, .publish, .publishTogether, .trim: other.append(effect)
            }
        }
    }

    /// Lets time pass and rings.
    mutating func pass(_ milliseconds: Int64) {
        now = now + milliseconds
        on(.timer)
    }

    /// A coordinator that died and came back over the same store.
    mutating func restart() {
        scheduler = Scheduler(
            policy: scheduler.policy, epoch: scheduler.epoch + 1, jobs: store.jobs,
            schedules: Array(store.schedules.values),
            operatorLimits: store.operatorLimits, holders: holders, now: now)
        sent = []
        take(scheduler.start(now: now))
    }

    @discardableResult
    mutating func submit(
        _ batches: Int, request: String = "", priority: Int32 = 0, weight: UInt32 = 1, allowedMissing: Double = 0.001
    ) -> JobID {
        on(
            .submit(
                Bench.job(batches, request: request, priority: priority, weight: weight, allowedMissing: allowedMissing)
            ))
        return scheduler.jobIDs.last ?? 0
    }

    mutating func join(
        _ id: SessionID, credit: UInt32 = 0, held: [LeaseToken] = [], fetch: Bool = true, merge: Bool = true,
        exports: [String] = []
    ) {
        var profile = SessionProfile(
            name: "w\(id)", host: "h", processID: id.rawValue, build: "test", canFetch: fetch, canMerge: merge)
        profile.exports = exports
        on(.hello(id, profile, held: held))
        if credit > 0 { on(.ready(id, credit: credit)) }
    }

    /// Offers sent so far and not asked for before.
    mutating func offers(to id: SessionID? = nil) -> [Offer] {
        defer { sent = [] }
        return sent.compactMap { session, message in
            if case .offer(let offer) = message, id == nil || id == session { offer } else { nil }
        }
    }

    func messages(to id: SessionID) -> [Outgoing] { sent.filter { $0.session == id }.map(\.message) }

    mutating func finish(_ offer: Offer, by id: SessionID, failed: [FailedTile] = [], seed: UInt64 = 0) {
        on(.commit(id, offer.token, Bench.result(offer, failed: failed, seed: seed)))
    }

    static func digest(_ seed: UInt64) -> Digest {
        Digest(bytes: (0..<32).map { UInt8(truncatingIfNeeded: seed >> UInt64(8 * ($0 % 8))) ^ UInt8($0) }) ?? zero
    }
    private static let zero: Digest = {
        guard let digest = Digest(bytes: [UInt8](repeating: 0, count: 32)) else {
            preconditionFailure("32 bytes make a digest")
        }
        return digest
    }()

    static func result(_ offer: Offer, failed: [FailedTile] = [], seed: UInt64 = 0) -> CommitResult {
        switch offer.work {
        case .fetch(let batch, _, _, let tiles):
            let counts = FetchCounts(
                stored: tiles - UInt64(failed.count), empty: 0, failed: UInt64(failed.count), bodyBytes: tiles * 10,
                shardBytes: tiles * 5)
            return .fetch(digest(offer.job.rawValue << 32 | UInt64(batch.number) << 8 | seed), counts, failures: failed)
        case .merge(let package, _, _):
            return .merge(
                MergedPackage(
                    digest: digest(offer.job.rawValue << 40 | UInt64(package.number)), size: 1, tiles: 1, tilesHash: "h"
                ))
        }
    }

    static func job(
        _ batches: Int, request: String = "", priority: Int32 = 0, weight: UInt32 = 1, allowedMissing: Double = 0.001,
        packages: Int = 1, after: [JobID] = [], identity: Digest? = nil, firing: Firing? = nil
    ) -> JobSubmission {
        let planned = (0..<batches).compactMap { index -> PlannedBatch? in
            guard let cell = TileID(zoom: 11, x: index % 2_048, y: index / 2_048),
                let zooms = ZoomRange(min: 11, max: 14)
            else { return nil }
            return PlannedBatch(cell: cell, zooms: zooms, tiles: 85)
        }
        return JobSubmission(
            requestID: request, priority: priority, weight: weight, allowedMissing: allowedMissing, batches: planned,
            packages: (0..<packages).map { Package(id: "P\($0)", tiles: UInt64(batches) * 85) },
            after: after, identity: identity, firing: firing)
    }

    /// Answers every wish for a cut, as a coordinator whose job has every tile.
    mutating func cut() {
        while let wish = cuts.popLast() {
            let parts = BatchPlanner.parts(of: wish.cell, zooms: wish.zooms, mask: TileMask(full: 14))
            on(.splitPlanned(wish.job, batch: wish.batch, parts))
        }
    }

    func summary(_ id: JobID) throws -> JobSummary { try #require(scheduler.summary(of: id)) }

    /// The job's rows as a store has them.
    func rows(_ id: JobID) -> [Batch] { store.jobs.first { $0.summary.id == id }?.batches ?? [] }

    /// Jobs whose blobs may go, since the last look.
    mutating func released() -> [JobID] {
        defer { releases = [] }
        return releases
    }

    /// Carries the job's manifests and publications out at once.
    mutating func runCoordinatorSteps() {
        while !other.isEmpty {
            switch other.removeFirst() {
            case .writeManifest(let id, let package):
                let manifest = Bench.digest(id.rawValue << 8 | UInt64(package.number))
                on(.manifestWritten(id, package: package, manifest))
            case .publish(let id, let package, _):
                on(.published(id, package: package, version: 1, path: "p", unchanged: false))
            case .publishTogether(let id):
                for (number, package) in scheduler.packages(of: id).enumerated() where package.state == .publishing {
                    on(.published(id, package: PackageIndex(number), version: 1, path: "p", unchanged: false))
                }
            case .store, .holders, .send, .submitted, .release, .trim, .split, .fire: break
            }
        }
    }
}
