/// The orders for a job that has not ended.
public enum JobOrder: Hashable, Sendable {
    /// Take running work back and start no more.
    case pause
    /// Continue with the earlier priority.
    case resume
    /// Higher runs first. Below 0 pauses, and the earlier priority is kept.
    case prioritise(Int32)
    /// Share among jobs of one priority; at least 1.
    case weigh(UInt32)
}

/// Why an order or a submission is refused.
public struct Refusal: Error, Hashable, Sendable {
    /// Stable kebab-case code.
    public let code: String
    /// What is wrong, and with which object.
    public let text: String
    /// What to do instead; empty when there is no alternative.
    public let hint: String

    /// A refusal.
    public init(_ code: String, _ text: String, hint: String = "") {
        self.code = code
        self.text = text
        self.hint = hint
    }

    /// A job that does not exist, or of which only a summary is kept.
    public static func unknown(_ id: JobID) -> Refusal {
        Refusal(
            "unknown-job", "Job \(id) does not exist, or only its summary is kept.", hint: "packhorse jobs lists them")
    }
}

extension Scheduler {
    /// Why an order for a job is refused, or `nil`.
    public func refusal(of id: JobID) -> Refusal? {
        guard let job = places[id].map({ jobs[$0] }) else { return .unknown(id) }
        guard job.summary.state.isFinal else { return nil }
        let hint = job.summary.state == .done ? "submit it again to build it from the start" : "packhorse retry \(id)"
        return Refusal("job-ended", "Job \(id) has ended already: \(job.summary.state.rawValue).", hint: hint)
    }

    /// Why a job cannot wait for the jobs `after`, or `nil`.
    public func refusal(after: [JobID]) -> Refusal? {
        for id in after {
            guard let job = places[id].map({ jobs[$0] }) else {
                let text =
                    "Job \(id), which must be done first, " + (id <= lastJob ? "is forgotten." : "does not exist.")
                return Refusal("unknown-job", text, hint: "packhorse jobs lists them")
            }
            guard job.summary.state == .failed || job.summary.state == .cancelled else { continue }
            let what = job.summary.state == .failed ? "has failed" : "was cancelled"
            return Refusal(
                "predecessor-ended", "Job \(id), which must be done first, \(what).", hint: "packhorse retry \(id)")
        }
        return nil
    }

    mutating func carryOut(_ order: JobOrder, job id: JobID, now: Tick) {
        guard refusal(of: id) == nil, let job = places[id] else { return }
        let priority = jobs[job].summary.priority
        // The priority of a paused job is -1 minus its earlier priority.
        let (active, paused) = (max(priority, -1 - priority), min(priority, -1 - priority))
        switch order {
        case .pause: setPriority(job, to: paused, now: now)
        case .resume: setPriority(job, to: active, now: now)
        case .prioritise(let wanted): setPriority(job, to: wanted < 0 ? paused : wanted, now: now)
        case .weigh(let weight):
            jobs[job].summary.weight = max(weight, 1)
            storeJob(job)
        }
    }

    /// Moves a job in the queue.
    ///
    /// The work of a job that is paused by this is taken back.
    private mutating func setPriority(_ job: JobPlace, to priority: Int32, now: Tick) {
        guard jobs[job].summary.priority != priority else { return }
        jobs[job].summary.priority = priority
        if priority < 0 { jobs[job].recordPause() }
        storeJob(job)
        jobs[job].isQueued = false
        if priority < 0 { takeBack(job, now: now) }
        queue(job)
        for package in jobs[job].packages.indices where jobs[job].packages[package].state == .ready {
            startNextStep(job, package: package)
        }
    }

    /// Ends every lease of a job at no cost to its work, and tells the workers.
    ///
    /// After that no request is made for it.
    private mutating func takeBack(_ job: JobPlace, now: Tick) {
        for token in leases.filter({ $0.value.work.job == job }).keys.sorted() {
            guard let session = leases[token]?.session else { continue }
            returnToQueue(token, now: now)
            if sessions[session] != nil { send(.pong(cancelled: [token]), to: session) }
        }
    }

    // MARK: - Jobs that follow others

    /// Starts jobs whose predecessors are done, and ends those whose predecessors have failed.
    mutating func updateFollowers(now: Tick) {
        for job in jobs.indices {
            guard !jobs[job].summary.state.isFinal, !jobs[job].summary.after.isEmpty else { continue }
            var rest: [JobID] = []
            var lost: (id: JobID, what: String)?
            for id in jobs[job].summary.after {
                switch places[id].map({ jobs[$0].summary.state }) {
                case .done: break
                case .failed: lost = lost ?? (id, "failed")
                case .cancelled: lost = lost ?? (id, "was cancelled")
                case nil: lost = lost ?? (id, "is forgotten")
                default: rest.append(id)
                }
            }
            if let lost {
                end(job, as: .failed, reason: "job \(lost.id), which it waited for, \(lost.what)", now: now)
            } else if rest != jobs[job].summary.after {
                jobs[job].summary.after = rest
                storeJob(job)
                queue(job)
            }
        }
    }

    // MARK: - Jobs like others

    /// The oldest unfinished job that makes exactly the same packages.
    ///
    /// A submission with predecessors never matches another job.
    func identicalJob(of submission: JobSubmission) -> JobID? {
        guard let identity = submission.identity, submission.after.isEmpty else { return nil }
        return jobs.indices.first { place in
            !jobs[place].summary.state.isFinal && jobs[place].summary.identity == identity
        }.map { jobs[$0].summary.id }
    }

    /// Why an unfinished job makes no progress now; empty = it makes progress.
    public func waiting(of id: JobID) -> String {
        guard let job = places[id].map({ jobs[$0] }), !job.summary.state.isFinal else { return "" }
        if job.summary.priority < 0 { return "paused" }
        if !job.summary.after.isEmpty {
            return "after " + job.summary.after.map(String.init).joined(separator: ", ")
        }
        return ""
    }
}
