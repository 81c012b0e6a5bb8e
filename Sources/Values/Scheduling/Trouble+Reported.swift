import Errors

extension Trouble {
    /// A failure as a worker reports it.
    ///
    /// A cause that this build does not know becomes `unknown`, and its name is added to the detail.
    public static func reported(cause: String, detail: String) -> Trouble {
        guard FailureCause.isKnown(cause) else {
            return Trouble(cause: FailureCause.unknown.rawValue, detail: "\(cause.prefix(64)): \(detail)")
        }
        return Trouble(cause: cause, detail: detail)
    }
}
