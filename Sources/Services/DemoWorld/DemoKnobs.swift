/// Faults that the demo server simulates, for tests and demonstrations.
public struct DemoKnobs: Sendable, Hashable {
    /// How long each tile waits before its answer.
    ///
    /// Default none.
    public var latency: Duration
    /// Every N-th request for a tile is answered 503, counted over all clients; 0 (the default) never.
    public var failEvery: Int
    /// About how much larger each packed tile is made by noise.
    ///
    /// Unit: bytes, 0...1,048,576. Default 0.
    public var padding: Int
    /// Where the path of every tile request is appended, a line each; `nil` (the default) nowhere.
    public var requestLog: String?

    /// Creates the settings; without arguments the server simulates no faults.
    public init(latency: Duration = .zero, failEvery: Int = 0, padding: Int = 0, requestLog: String? = nil) {
        self.latency = latency
        self.failEvery = failEvery
        self.padding = padding
        self.requestLog = requestLog
    }
}
