public import Errors

/// What a notification is about.
///
/// Numbers are stored in the state file and never reused. Names are stable.
public enum NotificationKind: Int64, CaseIterable, Sendable {
    /// Every package of a job is in the catalog.
    case jobDone = 1
    /// A job ended with an error.
    case jobFailed = 2
    /// A job was cancelled.
    case jobCancelled = 3
    /// The catalog has a new version of a package.
    case packagePublished = 4
    /// A tile server asked to wait, or does not answer.
    case originBlocked = 5
    /// A firing of a schedule failed, and so did its retries.
    case scheduleFailed = 6
    /// A step after a job failed, and so did its attempts.
    case stepFailed = 7

    /// Kebab-case.
    public var name: String {
        switch self {
        case .jobDone: "job-done"
        case .jobFailed: "job-failed"
        case .jobCancelled: "job-cancelled"
        case .packagePublished: "package-published"
        case .originBlocked: "origin-blocked"
        case .scheduleFailed: "schedule-failed"
        case .stepFailed: "step-failed"
        }
    }

    /// The kind with this name.
    public init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }

    /// The names of all kinds, for help and errors.
    public static var allNames: String { allCases.map(\.name).joined(separator: ", ") }

    /// Parses names separated by commas.
    ///
    /// - Throws: ``NotificationError`` `unknown-kind`.
    public static func set(_ text: String) throws(NotificationError) -> Set<NotificationKind> {
        var kinds: Set<NotificationKind> = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = name.drop { $0 == " " }
            guard let kind = NotificationKind(name: String(name)) else {
                throw NotificationError(
                    .unknownKind, "'\(name)' is not a kind of notification. The kinds are: \(allNames).")
            }
            kinds.insert(kind)
        }
        return kinds
    }
}
