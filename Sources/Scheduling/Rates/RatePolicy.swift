/// The numbers of politeness across the cluster.
///
/// Times are milliseconds.
public struct RatePolicy: Hashable, Sendable {
    /// How long a grant lives at its worker, counted from the message of the worker's that it answers.
    ///
    /// Three of the reports that a worker at work sends each two seconds, so that two lost ones do not stop it. A restart costs one ttl
    /// of learning, so no longer than that.
    public var ttl: Int64 = 6_000
    /// A session without leases keeps its share this long, so that the next batch finds it there.
    public var linger: Int64 = 1_000
    /// The longest wait taken from a Retry-After.
    public var longestBlock: Int64 = 3_600_000
    /// So long after a good answer, a 503 without Retry-After refuses one request and does not mean that the origin is down.
    public var answering: Int64 = 2_000
    /// While a rate or connections are being found, workers report so often; with many workers less often.
    public var reportEvery: Int64 = 250
    /// So many failures in a row over the whole cluster mean that the origin is down.
    public var failuresToBreak: UInt64 = 20
    /// The first pause of an origin that is down; doubles with each probe that fails.
    public var breakFor: Int64 = 2_000
    /// The longest such pause.
    public var breakCap: Int64 = 60_000
    /// An origin that was down starts again at this share of its speed before.
    public var afterBreak = 0.5

    /// By how much clocks of two machines may differ in speed, as a share: far more than any do.
    var drift = 0.05

    /// The numbers of what finds the rate of an origin.
    var control = ControlPolicy()

    /// The defaults above.
    public init() {}

    /// How long the coordinator counts a grant.
    var counted: Int64 { ttl + Int64(Double(ttl) * drift) }
}
