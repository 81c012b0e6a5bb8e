internal import ClusterClient
import Errors
import Files
import Foundation
internal import TextFormats
import Wire

/// Reports why a job makes no progress: no worker, or workers with problems.
struct StallNotice {
    private var last: (settled: UInt64, state: String)?
    private var since = 0.0
    private var quiet = 5.0
    /// What the job waited for last because a disk is full; empty = nothing, or there was progress since.
    private var fullDisk = ""

    /// Whether the job has been stalled long enough for a message.
    ///
    /// The interval doubles each time.
    mutating func isDue(_ job: PBJobStatus, at seconds: Double) -> Bool {
        guard stands(job, at: seconds) >= quiet else { return false }
        quiet *= 2
        return true
    }

    /// How long the job has been stalled, in seconds; 0 at the first call.
    mutating func stands(_ job: PBJobStatus, at seconds: Double) -> Double {
        update(job, at: seconds)
        return seconds - since
    }

    /// What the job waits for; empty = nothing.
    ///
    /// A worker whose disk is full pauses, and tries again without a lease. The disk stays the reason between these
    /// attempts, until there is progress.
    mutating func waiting(_ job: PBJobStatus, at seconds: Double) -> String {
        update(job, at: seconds)
        guard !job.waiting.isEmpty else { return fullDisk }
        fullDisk = Self.named(in: [job.waiting]).contains(.diskFull) ? job.waiting : ""
        return job.waiting
    }

    private mutating func update(_ job: PBJobStatus, at seconds: Double) {
        if let last, last == (job.settled, job.state) { return }
        last = (job.settled, job.state)
        since = seconds
        quiet = 5
        fullDisk = ""
    }

    /// The known reasons: the job's own reason, else the states of the workers.
    static func lines(_ job: PBJobStatus, _ workers: [PBWorkerStatus]) -> [String] {
        // While the job fetches, the reason is about failed tiles.
        if job.state != "fetching", !job.reason.isEmpty { return ["no progress: \(job.reason)"] }
        guard !workers.isEmpty else {
            return ["no progress: no worker is connected; start one with 'packhorse worker'"]
        }
        let troubled = workers.filter { !$0.reason.isEmpty }
        guard !troubled.isEmpty else {
            let leases = workers.reduce(0) { $0 + Int($1.leases) }
            return [
                "no progress: \(Units.count(workers.count, of: "worker")) connected, \(Units.count(leases, of: "lease")) active"
                    + (job.state == "fetching" ? "; the origin may be slow or throttling" : "")
            ]
        }
        let causes = EqualCauses.lines(
            troubled.map { ("worker \($0.name)", "\($0.state): \($0.reason)") }, of: "worker")
        return causes.map { "no progress: \($0)" }
    }
}

extension StallNotice {
    /// What the user can do against these causes of a stall.
    ///
    /// - Parameter disk: The folder of the work, when this machine has it.
    static func remedy(_ causes: [String], disk: URL? = nil) -> String {
        let named = named(in: causes)
        guard named.contains(.diskFull) else {
            return named.contains { $0.fault == .worker } ? "mend the cause above" : "check the tile server"
        }
        guard let disk, causes.contains(where: { $0.contains(disk.path) }) else {
            return "free space on the disk that is named above"
        }
        // A disk that cannot be asked is named without a number.
        let free = (try? Durable.freeBytes(disk)).map { " (\(Units.bytes($0)) are free)" } ?? ""
        return "free space on the disk of '\(disk.path)'\(free)"
    }

    /// The failures that texts name.
    private static func named(in causes: [String]) -> Set<FailureCause> {
        let words = causes.flatMap { $0.split { !($0.isLetter || $0 == "-") } }
        return Set(words.compactMap { FailureCause(rawValue: String($0)) })
    }
}

extension PBWorkerStatus {
    /// Whether the coordinator has missed several heartbeats of the worker.
    var isSilent: Bool { state == "suspect" }
}
