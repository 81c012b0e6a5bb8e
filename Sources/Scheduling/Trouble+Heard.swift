import Errors

extension Trouble {
    /// A trouble as a worker reports it: a cause that this build does not know becomes `unknown`, its name goes into the detail.
    public static func heard(cause: String, detail: String) -> Trouble {
        guard FailureCause.isKnown(cause) else {
            return Trouble(cause: FailureCause.unknown.rawValue, detail: "\(cause.prefix(64)): \(detail)")
        }
        return Trouble(cause: cause, detail: detail)
    }
}
