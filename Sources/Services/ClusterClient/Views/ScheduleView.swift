package import Wire

/// A schedule as printed.
package struct ScheduleView: Encodable, Sendable {
    package let id: String
    package let every: String
    package let label: String
    package let nextSeconds: Double
    package let lastJob: UInt64?
    package let fired: UInt64
    package let skipped: UInt64

    package init(_ schedule: PBSchedule) {
        id = schedule.id
        every = schedule.every
        label = schedule.label
        nextSeconds = Double(schedule.nextMs) / 1_000
        lastJob = schedule.lastJob == 0 ? nil : schedule.lastJob
        fired = schedule.fired
        skipped = schedule.skipped
    }
}
