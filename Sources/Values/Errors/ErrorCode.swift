/// The reasons for which the calls of one module fail: a closed list.
///
/// The raw value is a stable word in kebab-case: safe as a metric label, in JSON and in scripts. Texts may change, codes may not.
public protocol ErrorCode: RawRepresentable<String>, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// The exit code of a command that ends with this reason.
    var exitStatus: ExitStatus { get }
}

extension ErrorCode {
    /// The word in kebab-case.
    public var description: String { rawValue }
}
