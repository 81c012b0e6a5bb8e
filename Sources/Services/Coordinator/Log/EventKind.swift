/// The kind of a line of the event log.
///
/// Numbers are stored in the file and never reused. Names are stable.
enum EventKind: Int64, CaseIterable {
    case jobInserted = 1
    case job = 2
    case jobForgotten = 3
    case batch = 4
    case package = 5
    case failures = 6
    case orphan = 7
    case batchesAdded = 8
    case jobReopened = 9
    case dropped = 10
    case schedule = 11
    case scheduleDropped = 12
    case batchesReset = 13
    case firing = 14
    case step = 15
    case originLimit = 210
    case originBlocked = 211

    /// Kebab-case.
    var name: String {
        switch self {
        case .jobInserted: "job-inserted"
        case .job: "job"
        case .jobForgotten: "job-forgotten"
        case .batch: "batch"
        case .package: "package"
        case .failures: "failures"
        case .orphan: "orphan"
        case .batchesAdded: "batches-added"
        case .jobReopened: "job-reopened"
        case .dropped: "dropped"
        case .schedule: "schedule"
        case .scheduleDropped: "schedule-dropped"
        case .batchesReset: "batches-reset"
        case .firing: "firing"
        case .step: "step"
        case .originLimit: "origin-limit"
        case .originBlocked: "origin-blocked"
        }
    }
}
