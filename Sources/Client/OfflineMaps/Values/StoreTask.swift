public import Tiles

/// What a task does.
public enum TaskKind: String, Codable, CaseIterable, Sendable {
    /// Read the catalog's list.
    case list
    /// Download and install an item.
    case install
    /// Bring an installed item to the newest version.
    case update
    /// Download what a region lacks.
    case load
    /// Ask the server about everything of a region and download what changed.
    case refresh
    /// Remove an item.
    case remove
    /// Go back to a version that was kept.
    case rollback
}

/// A task of the durable queue, as it is now.
public struct StoreTask: Hashable, Sendable {
    /// The number of the task.
    public var id: TaskID
    /// What the task does.
    public var kind: TaskKind
    /// The items; empty for a task about the list, several for an update of all together.
    public var items: [Item]
    /// Higher is first; below 0 the task is paused.
    public var priority: Int32
    /// Where the task is.
    public var state: TaskState
    /// How far the task is.
    public var progress: TaskProgress
    /// What happened and what to do, for a failed task of which more is known than its cause: the file, and what the
    /// system said.
    public var failureText: String?

    /// Describes a task.
    public init(
        id: TaskID, kind: TaskKind, items: [Item], priority: Int32, state: TaskState, progress: TaskProgress,
        failureText: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.items = items
        self.priority = priority
        self.state = state
        self.progress = progress
        self.failureText = failureText
    }
}

/// How a task is to be done.
public struct TaskRule: Hashable, Codable, Sendable {
    /// Higher is first; below 0 the task begins paused.
    public var priority: Int32 = 0
    /// Which network the task may use; `nil` is the rule of the store.
    public var network: NetworkRule?
    /// Whether the task fails with ``FailureCause/connection`` when there is no network, instead of waiting.
    public var failsWithoutNetwork = false
    /// Whether tiles and packs that have expired count as present.
    public var acceptExpired = false
    /// The highest rate of the download; `nil` is no limit.
    public var bytesPerSecond: UInt64?
    /// Packs and tiles near this place come first, as longitude and latitude.
    public var startAt: Coordinate?

    /// Makes the default rule: priority 0, the network rule of the store, no limit of the rate.
    public init() {}
}

/// Which network a task may use.
public enum NetworkRule: String, Codable, Sendable {
    /// Any network.
    case any
    /// Only a network that costs nothing by the byte.
    case notExpensive
    /// No network.
    case none
}
