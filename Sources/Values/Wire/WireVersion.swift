/// Versions of the wire protocol.
///
/// Peers of another major version are refused; minors are negotiated in hello and welcome.
public enum WireVersion {
    /// The major version, in every header.
    ///
    /// Raised when the header or the meaning of a message changes.
    public static let major: UInt8 = 1
    /// The minor versions that this build supports.
    ///
    /// Raised when a message or a field with meaning is added after a release. This version and earlier ones are supported.
    public static let minors: ClosedRange<UInt8> = 0...0

    /// "1.0", or "1.0-2" for a range.
    public static let description: String =
        minors.lowerBound == minors.upperBound
        ? "\(major).\(minors.upperBound)" : "\(major).\(minors.lowerBound)-\(minors.upperBound)"

    /// The highest minor version that both sides support.
    ///
    /// - Parameters:
    ///   - minimum: The peer's lowest minor, from its hello.
    ///   - maximum: The peer's highest minor.
    ///   - own: The range of this side; another one only in tests.
    /// - Throws: ``WireError`` `version-mismatch` with both ranges, `bad-value` when `minimum > maximum`.
    public static func negotiate(
        minimum: UInt32, maximum: UInt32, own: ClosedRange<UInt8> = minors
    ) throws(WireError) -> UInt8 {
        guard minimum <= maximum else {
            throw WireError(.badValue, "The peer offers wire minors \(minimum) to \(maximum): the range is reversed.")
        }
        let common = min(UInt32(own.upperBound), maximum)
        guard common >= minimum, common >= UInt32(own.lowerBound) else {
            throw WireError(
                .versionMismatch,
                "The peer uses wire \(major).\(minimum) to \(major).\(maximum); this build uses"
                    + " \(major).\(own.lowerBound) to \(major).\(own.upperBound). Upgrade the older of the two.")
        }
        return UInt8(truncatingIfNeeded: common)
    }
}
