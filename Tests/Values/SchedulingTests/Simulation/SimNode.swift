import Scheduling

/// A machine with a worker on it: its clock, its link, its disk and what befalls them.
struct SimNode {
    var worker: SimWorker?
    var clock: SimClock
    var downUntil: Int64 = 0
    var pausedUntil: Int64 = 0
    /// Until when nothing reaches it.
    var deafUntil: Int64 = 0
    /// Until when nothing it says arrives.
    var muteUntil: Int64 = 0
    var fullUntil: Int64 = 0
    /// When a fault last touched it or its link.
    var troubledAt: Int64 = -1
    /// The only wake-up that counts.
    var wakeAt = Int64.max
    let steps: ClosedRange<Int64>
    /// The formats its build writes.
    var exports: [String] = []
    /// The words that its operator gave it.
    var labels: [String] = []

    func pace(_ random: inout SeededRandom) -> Int64 { random.within(steps) }

    /// When it next has something to do.
    var due: Int64 {
        guard let worker else { return downUntil }
        var due = clock.time(of: worker.nextTick)
        for case .running(let task) in worker.leases.map(\.state) { due = min(due, task.at) }
        return due
    }
}
