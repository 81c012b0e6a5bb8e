/// How an origin is treated.
public struct Politeness: Sendable, Hashable {
    /// Requests in flight at once, 1...256.
    ///
    /// Default 8.
    public var concurrency = 8
    /// Requests per second at most, 0.01...100,000; `nil` = no limit.
    public var requestsPerSecond: Double?
    /// Bytes of answers per second at most, 10,000...10^12; `nil` = no limit.
    public var bytesPerSecond: Int?
    /// The User-Agent to send; `nil` = `Packhorse/0.1 (+contact)`.
    public var userAgent: String?
    /// A mail address or web page of the person who runs the job.
    ///
    /// Required for public hosts: an operator who sees thousands of requests must be able to contact a person before
    /// blocking them. Not needed for loopback, private networks, and names without a dot (another container).
    public var contact: String?
    /// Until a connection stands.
    ///
    /// Seconds, 0.1...600, default 10.
    public var connectSeconds = 10.0
    /// For one whole request.
    ///
    /// Seconds, 0.1...3,600, default 60.
    public var totalSeconds = 60.0
    /// Without progress.
    ///
    /// Seconds, 1...600, default 20.
    public var stallSeconds = 20.0

    /// The defaults.
    public init() {}

    /// The User-Agent header to send.
    public var effectiveUserAgent: String {
        userAgent ?? (contact.map { "Packhorse/0.1 (+\($0))" } ?? "Packhorse/0.1")
    }
}
