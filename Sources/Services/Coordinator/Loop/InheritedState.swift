import Catalog
import Errors
import Scheduling

/// The state of the state file with which a coordinator starts.
struct InheritedState {
    private(set) var stored: Inheritance
    private(set) var jobs: JobRegistry
    /// Ended jobs whose blobs must be removed.
    private(set) var unreleased: [JobID]
    /// The steps of jobs that are done.
    var steps: JobSteps {
        let done = stored.jobs.filter { $0.summary.state == .done }.map(\.summary.id)
        return JobSteps(stored: stored.steps, done: done.map { ($0, jobs.steps(of: $0)) })
    }

    /// Reads the state file.
    ///
    /// - Throws: ``CoordinatorError`` `damaged-state`; what SQLite throws.
    static func load(_ store: StateStore) async throws -> InheritedState {
        do { return try await read(store) } catch { throw StateStore.damage(store.file, error) ?? error }
    }

    private static func read(_ store: StateStore) async throws -> InheritedState {
        var stored = try await store.load()
        var specs: [JobID: JobSpec] = [:]
        for (index, job) in stored.jobs.enumerated() {
            let spec = try spec(of: job)
            specs[job.summary.id] = spec
            stored.jobs[index].origin = spec.tileset.origin
            stored.jobs[index].tileset = spec.tileset.digest
            stored.jobs[index].formats = spec.formats
            stored.jobs[index].asksChangedOnly = spec.changed != nil
            stored.jobs[index].labels = spec.labels
            stored.jobs[index].publishesTogether = spec.publish.together
            if !job.summary.state.isFinal { stored.jobs[index].needs = spec.needs(of: job.batches) }
        }
        var state = InheritedState(
            stored: stored, jobs: JobRegistry(specs: specs, times: stored.times),
            unreleased: try await store.unreleased())
        try await state.holdShards(store)
        return state
    }

    private static func spec(of job: StoredJob) throws -> JobSpec {
        do {
            return try JobSpec(payload: job.payload, withMasks: !job.summary.state.isFinal)
        } catch {
            throw CoordinatorError(
                .damagedState,
                "the description of job \(job.summary.id) cannot be read (\(error))", cause: error)
        }
    }

    /// Finds the ended jobs whose shards unfinished jobs may use: those of the same tileset that were submitted before
    /// they ended.
    ///
    /// Also finds the shards of kept previous builds.
    private mutating func holdShards(_ store: StateStore) async throws {
        let living = stored.jobs.filter { !$0.summary.state.isFinal }
        var waiting = Set(unreleased)
        for (index, job) in stored.jobs.enumerated() where waiting.contains(job.summary.id) && !job.summary.wasPaused {
            guard let ended = stored.times[job.summary.id]?.ended else { continue }
            let heldFor = living.filter { other in
                other.tileset == job.tileset && stored.times[other.summary.id].map { $0.created <= ended } == true
            }.map(\.summary.id)
            guard !heldFor.isEmpty else { continue }
            stored.jobs[index].batches = try await store.shards(of: job.summary.id)
            stored.jobs[index].heldFor = heldFor
            waiting.remove(job.summary.id)
        }
        for (index, job) in stored.jobs.enumerated() where job.summary.state == .done && job.summary.keepsBlobs {
            stored.jobs[index].batches = try await store.shards(of: job.summary.id)
        }
        unreleased = unreleased.filter(waiting.contains)
    }

    /// The scheduler over this state.
    func scheduler(_ environment: LoopEnvironment) -> Scheduler {
        Scheduler(
            policy: environment.options.policy, epoch: environment.store.epoch, jobs: stored.jobs,
            lastJob: stored.lastJob, schedules: stored.schedules, operatorLimits: stored.operatorLimits,
            holders: stored.holders, now: environment.now)
    }
}
