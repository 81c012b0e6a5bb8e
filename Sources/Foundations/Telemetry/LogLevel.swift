public import Logging
import Synchronization

/// The level of a process's log, which can change while it runs.
public final class LogLevel: Sendable {
    private let level: Mutex<Logger.Level>

    /// A level to begin with.
    public init(_ level: Logger.Level = .notice) { self.level = Mutex(level) }

    /// Lines below it are dropped.
    public var current: Logger.Level {
        get { level.withLock { $0 } }
        set { level.withLock { $0 = newValue } }
    }
}
