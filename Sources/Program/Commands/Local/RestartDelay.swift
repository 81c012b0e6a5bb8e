/// How long a process that has ended waits until it is started again.
///
/// The first wait is a second. Each further one is twice as long, up to 30 s. After a process that ran for a minute the
/// wait is a second again.
struct RestartDelay: Equatable {
    static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(30)
    private static let healthy = Duration.seconds(60)

    private var next = first

    /// The wait after a run.
    ///
    /// - Parameter time: How long the process ran.
    mutating func wait(afterRunning time: Duration) -> Duration {
        if time >= Self.healthy { next = Self.first }
        defer { next = min(next * 2, Self.longest) }
        return next
    }
}
