/// The constants of cluster-wide rate limiting.
///
/// Times are milliseconds.
public struct RatePolicy: Hashable, Sendable {
    /// How long a grant is valid at its worker, counted from the worker's message that it answers.
    ///
    /// A working worker reports every two seconds. The value is three of these reports, so that two lost ones do not
    /// stop it. It is not longer, because a restart costs one ttl of learning.
    public var ttl: Int64 = 6_000
    /// A session without leases keeps its share this long, so that its next batch can use it.
    public var linger: Int64 = 1_000
    /// The longest wait accepted from a Retry-After.
    public static let longestBlock: Int64 = 3_600_000
    /// For this long after a successful answer, a 503 without Retry-After is a refused request and does not mean that
    /// the origin is down.
    public static let answering: Int64 = 2_000
    /// The interval of workers' reports while a rate or connections are being searched; longer with many workers.
    public var reportEvery: Int64 = 250
    /// This many consecutive failures over the whole cluster mean that the origin is down.
    public static let failuresToBreak: UInt64 = 20
    /// The first pause of an origin that is down.
    ///
    /// It doubles with each failed probe.
    public static let breakFor: Int64 = 2_000
    /// The longest such pause.
    public static let breakCap: Int64 = 60_000
    /// An origin that was down starts at this share of its earlier rate.
    public static let afterBreak = 0.5

    /// The largest difference in speed between the clocks of two machines, as a share.
    ///
    /// Real clocks differ far less.
    var drift = 0.05

    /// The constants of the search for the rate of an origin.
    var control = ControlPolicy()

    /// The defaults above.
    public init() {}

    /// How long the coordinator counts a grant as valid.
    var counted: Int64 { ttl + Int64(Double(ttl) * drift) }
}
