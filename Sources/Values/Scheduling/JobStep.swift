public import Errors

/// What follows when a job is done: one of its steps, and how far it is.
///
/// The submission says which steps a job has; a store has a row for each step that was started.
public struct JobStep: Hashable, Sendable {
    /// How far a step is.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// It has not begun, or it waits for its next attempt.
        case waiting
        /// It runs now, or it ran when the coordinator ended; then it is repeated.
        case running
        /// It is done.
        case done
        /// It failed, and is not tried again by itself.
        case failed
    }

    /// The longest result or detail, in characters.
    static let maxText = 500

    /// The job.
    public let job: JobID
    /// Counts the steps of the job from 1.
    public let number: Int
    /// The step as the submission has it: `push=/srv/www`.
    public let text: String
    /// How far it is.
    public private(set) var state = State.waiting
    /// Attempts that failed.
    public private(set) var attempts: UInt32 = 0
    /// When it is tried again; 0 = now.
    ///
    /// Milliseconds since 1970.
    public private(set) var retryAt: Int64 = 0
    /// When it was done or failed; 0 = it was not yet.
    ///
    /// Milliseconds since 1970.
    public private(set) var endedAt: Int64 = 0
    /// What it did; for people.
    public private(set) var result = ""
    /// Why the last attempt failed, as a stable kebab-case code; empty = none failed.
    public private(set) var cause = ""
    /// The same for people.
    public private(set) var detail = ""
    /// With which a command ends that waits for it; `success` = no attempt failed.
    public private(set) var exitStatus = ExitStatus.success

    /// A step that has not begun.
    public init(job: JobID, number: Int, text: String) {
        (self.job, self.number, self.text) = (job, number, text)
    }

    /// A step as read from a store.
    public init(
        _ step: JobStep, state: State, attempts: UInt32, retryAt: Int64, endedAt: Int64, result: String, cause: String,
        detail: String, exitStatus: ExitStatus
    ) {
        self = step
        (self.state, self.attempts, self.retryAt, self.endedAt) = (state, attempts, retryAt, endedAt)
        (self.result, self.cause, self.detail, self.exitStatus) = (result, cause, detail, exitStatus)
    }

    /// It begins.
    public var begun: JobStep {
        var step = self
        (step.state, step.retryAt, step.result) = (.running, 0, "")
        return step
    }

    /// It is done.
    ///
    /// - Parameter wall: Milliseconds since 1970.
    public func done(_ result: String, wall: Int64) -> JobStep {
        var step = self
        (step.state, step.result, step.endedAt) = (.done, String(result.prefix(Self.maxText)), wall)
        (step.cause, step.detail, step.exitStatus) = ("", "", .success)
        return step
    }

    /// An attempt failed.
    ///
    /// - Parameters:
    ///   - cause: A stable kebab-case code.
    ///   - exitStatus: With which a command ends that waits for the step.
    ///   - retryAt: When it is tried again, milliseconds since 1970; `nil` = it has failed.
    ///   - wall: Milliseconds since 1970.
    public func failed(
        _ cause: String, _ detail: String, exitStatus: ExitStatus, retryAt: Int64?, wall: Int64
    ) -> JobStep {
        var step = self
        step.attempts = attempts == .max ? .max : attempts + 1
        (step.cause, step.detail) = (String(cause.prefix(64)), String(detail.prefix(Self.maxText)))
        step.exitStatus = exitStatus
        if let retryAt {
            (step.state, step.retryAt) = (.waiting, retryAt)
        } else {
            (step.state, step.endedAt) = (.failed, wall)
        }
        return step
    }

    /// A failed step that waits for new attempts.
    public var again: JobStep { JobStep(job: job, number: number, text: text) }
}

extension [JobStep] {
    /// The step to run next; `nil` when all are done, or one has failed.
    public var next: JobStep? {
        guard let step = first(where: { $0.state != .done }), step.state != .failed else { return nil }
        return step
    }

    /// The step that failed, if one did.
    public var failed: JobStep? { first { $0.state == .failed } }
}
