import Scheduling

/// The steps of the jobs in memory, and which of them is next.
///
/// Follows the writes of the state, so that it is the same after a restart.
struct JobSteps: Sendable {
    private var steps: [JobID: [JobStep]] = [:]
    /// Jobs with a step that is neither done nor behind a failed one.
    private var open: Set<JobID> = []

    init() {}

    /// The steps that a coordinator starts with.
    ///
    /// - Parameters:
    ///   - stored: The rows of the state file.
    ///   - done: The jobs that are done and have steps, with the steps of their submissions.
    init(stored: [JobStep], done: [(job: JobID, texts: [String])]) {
        for (job, texts) in done { add(job, texts) }
        for step in stored { put(step) }
    }

    /// The steps of a job that is done, in order; empty for every other job.
    func all(of job: JobID) -> [JobStep] { steps[job] ?? [] }

    /// Whether a step of the job runs or is going to.
    func isOpen(_ job: JobID) -> Bool { open.contains(job) }

    /// The step to run now: of the oldest job whose next attempt is due.
    ///
    /// - Parameters:
    ///   - wall: Milliseconds since 1970.
    ///   - longest: The longest time between two attempts, in milliseconds: after a step of the clock back none waits longer.
    func due(wall: Int64, longest: Int64) -> JobStep? {
        open.sorted().lazy.compactMap { steps[$0]?.next }.first { step in
            step.retryAt <= wall || step.retryAt - wall > longest
        }
    }

    /// Follows a change of the state.
    ///
    /// - Parameter texts: The steps of a submission by its job.
    mutating func record(_ write: StoreWrite, texts: (JobID) -> [String]) {
        switch write {
        case .job(let summary) where summary.state == .done && steps[summary.id] == nil:
            add(summary.id, texts(summary.id))
        case .reopen(let job, _): remove(job.summary.id)
        case .forget(let job): remove(job)
        case .step(let step): put(step)
        default: break
        }
    }

    private mutating func add(_ job: JobID, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        steps[job] = texts.enumerated().map { JobStep(job: job, number: $0 + 1, text: $1) }
        open.insert(job)
    }

    private mutating func remove(_ job: JobID) {
        steps[job] = nil
        open.remove(job)
    }

    private mutating func put(_ step: JobStep) {
        guard var all = steps[step.job], all.indices.contains(step.number - 1) else { return }
        all[step.number - 1] = step
        steps[step.job] = all
        if all.next == nil { open.remove(step.job) } else { open.insert(step.job) }
    }
}

extension [JobStep] {
    /// Which step does not let the job's steps be done, and why; empty when all are done, and for a job without steps.
    var progress: String {
        guard let step = first(where: { $0.state != .done }) else { return "" }
        let name = "step \(step.number) of \(count), \(step.text.prefix(100)):"
        return switch step.state {
        case .waiting where step.cause.isEmpty: "\(name) waits"
        case .waiting: "\(name) waits for attempt \(step.attempts + 1) (\(step.cause))"
        case .running: "\(name) runs"
        case .failed, .done: "\(name) failed (\(step.cause)); packhorse retry \(step.job)"
        }
    }
}
