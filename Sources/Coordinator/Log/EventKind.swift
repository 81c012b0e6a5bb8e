/// What a line of the event log is about.
///
/// Numbers are the file's and never reused; names are stable.
enum EventKind: Int64, CaseIterable {
    case jobInserted = 1
    case job = 2
    case jobForgotten = 3
    case batch = 4
    case package = 5
    case failures = 6
    case orphan = 7

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
        }
    }
}
