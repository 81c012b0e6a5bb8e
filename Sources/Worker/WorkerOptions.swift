public import Foundation
public import Shards
public import ZeroMQ

/// What a worker needs to know.
public struct WorkerOptions: Sendable {
    /// The coordinator's work endpoint, e.g.
    ///
    /// "tcp://127.0.0.1:7471".
    public var connect: String
    /// How the two trust each other.
    public var security: LinkSecurity
    /// The blob store's folder, shared with the coordinator; `nil` streams blobs to and from it.
    public var blobs: URL?
    /// Opens another blob store than the folder's; tried again while it throws `store-missing`.
    public var openStore: (@Sendable () async throws -> any BlobStore)?
    /// Where blobs are streamed to, when the coordinator's own word does not lead there.
    ///
    /// Default: the host of ``connect`` and the port that the coordinator names.
    public var blobEndpoint: String?
    /// Where a worker that streams makes its shards and packages, and keeps fetched ones.
    ///
    /// Default: `packhorse` in the system's folder for temporary files.
    public var scratch = FileManager.default.temporaryDirectory.appendingPathComponent("packhorse")
    /// Bytes of fetched blobs kept that no work needs now.
    ///
    /// Default 4 GiB.
    public var cacheBytes: UInt64 = 4 << 30
    /// Leases worked on at the same time, 1...256.
    ///
    /// Default 4.
    public var slots: Int
    /// Shown by `packhorse workers`; unique only by habit.
    ///
    /// Default: host name and process id.
    public var name: String
    /// Shown by `packhorse workers`, e.g.
    ///
    /// "packhorse 0.1.0".
    public var build: String
    /// Whether unencrypted traffic beyond loopback is allowed.
    public var allowPlain = false
    /// Where secrets named in tilesets come from.
    ///
    /// Default: the process environment.
    public var environment: [String: String]
    /// How long the start waits for the coordinator to make the blob store.
    ///
    /// Default 30 s.
    public var storePatience: Duration = .seconds(30)
    /// Called before each merge: the time to give memory back, which merges need in other sizes than fetches.
    ///
    /// Default: nothing happens.
    public var beforeMerge: @Sendable () -> Void = {}

    /// Options with everything else at its default.
    public init(
        connect: String, security: LinkSecurity, blobs: URL?, slots: Int = 4, name: String? = nil, build: String
    ) {
        let process = ProcessInfo.processInfo
        self.connect = connect
        self.security = security
        self.blobs = blobs
        self.slots = min(max(slots, 1), 256)
        self.name = name ?? "\(HostName.current)-\(process.processIdentifier)"
        self.build = build
        environment = process.environment
    }
}
