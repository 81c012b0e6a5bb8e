/// Where a task is.
public enum TaskState: Hashable, Codable, Sendable {
    /// The task waits and continues by itself.
    case waiting(WaitReason)
    case downloading, verifying, installing, removing
    /// The task stands until the reason ends.
    case paused(PauseReason)
    /// The task has failed; `MapStore.retry` or a newer catalog lets it wait again.
    case failed(FailureCause)
    case done, cancelled

    /// Whether the task has ended for good.
    public var isOver: Bool { self == .done || self == .cancelled }
}

/// Why a task waits.
public enum WaitReason: Hashable, Codable, Sendable {
    /// Other tasks come first.
    case turn
    /// There is no network.
    case network
    /// An attempt failed; the next one begins after this time.
    case backoff(Duration)
    /// The server asked for this time.
    case server(Duration)
    /// Another process does the work.
    case otherProcess
}

/// Why a task stands.
public enum PauseReason: Hashable, Codable, Sendable {
    /// The priority is below 0.
    case user
    /// The store was stopped or has not been started.
    case stopped
    /// The store was suspended.
    case suspended
    /// The network rule forbids the network of the moment.
    case networkRule
    /// The disk has too little space: bytes that have to be free for what the task still downloads, with the reserve of 64 MiB
    /// that is left to others, and bytes that are free.
    case diskFull(needed: UInt64, free: UInt64)
    /// The quota would be exceeded.
    case quota(needed: UInt64, allowed: UInt64)
}

/// Why something failed: a closed set.
///
/// The raw value is the name in JSON.
public enum FailureCause: String, Codable, CaseIterable, Sendable {
    /// There is no connection.
    case connection
    /// The server does not have it (404, 410).
    case notFound = "not-found"
    /// The server refuses (401, 403).
    case notAllowed = "not-allowed"
    /// The server asks for payment (402).
    case limitExceeded = "limit-exceeded"
    /// The server finds the request too big (406, 413), or the file is bigger than it may be.
    case tooBig = "too-big"
    /// The server failed eight times in the same way.
    case serverError = "server-error"
    /// The bytes do not have the digest of the catalog, twice.
    case badBytes = "bad-bytes"
    /// The signature is wrong or is not by a trusted key.
    case badSignature = "bad-signature"
    /// The list is older than one that was accepted before.
    case olderCatalog = "older-catalog"
    /// The list cannot be read.
    case badCatalog = "bad-catalog"
    /// The style cannot be read.
    case badStyle = "bad-style"
    /// The file is not of the expected kind, or is damaged.
    case badFile = "bad-file"
    /// More tile packs than the quota allows.
    case tooManyPacks = "too-many-packs"
    /// More single tiles than the quota allows.
    case tooManyTiles = "too-many-tiles"
    /// The catalog does not have the item.
    case notInCatalog = "not-in-catalog"
    /// The tile server forbids bulk downloads.
    case hostForbidsBulk = "host-forbids-bulk"
    /// The arguments contradict each other or are out of range.
    case invalidArguments = "invalid-arguments"
    /// The disk or the database failed.
    case storage
    /// The item is no longer in the catalog.
    case superseded
    /// An error of this library.
    case internalError = "internal-error"
}

/// What a store does when it is started.
public enum StoreWork: Hashable, Sendable {
    /// All tasks of the queue.
    case all
    /// Only the reading of the catalog.
    case catalog
}
