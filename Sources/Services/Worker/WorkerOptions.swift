public import Blobs
internal import ClusterClient
public import Foundation
public import ZeroMQ

/// The configuration of a worker.
public struct WorkerOptions: Sendable {
    /// The coordinator's work endpoint, for example "tcp://127.0.0.1:7471", or several: where it is, and where one that replaces it will be.
    ///
    /// The worker stays with the coordinator of the highest epoch.
    public var connect: [String]
    /// How the two ends authenticate each other.
    public var security: LinkSecurity
    /// The folder of the blob store, shared with the coordinator; `nil` = blobs are streamed.
    public var blobs: URL?
    /// Opens a blob store that replaces the folder's.
    ///
    /// Called again while it throws `store-missing`.
    public var openStore: (@Sendable () async throws -> any BlobStore)?
    /// Where blobs are streamed to, if the address from the coordinator is not reachable.
    ///
    /// Default: the host by which the coordinator is reached, and the port that it names.
    public var blobEndpoint: String?
    /// Where a streaming worker makes its shards and packages, and keeps downloaded ones.
    ///
    /// Default: `packhorse` in the system's folder for temporary files.
    public var scratch = FileManager.default.temporaryDirectory.appendingPathComponent("packhorse")
    /// Bytes of unused downloaded blobs that are kept.
    ///
    /// Default 4 GiB.
    public var cacheBytes: UInt64 = 4 << 30
    /// Bytes that the worker receives from all origins together per second; `nil` = no limit.
    ///
    /// Blobs are not counted.
    public var bandwidth: UInt64?
    /// How much of the machine it may use.
    ///
    /// Default: no limits.
    public var limits = HostLimits()
    /// The words that jobs may ask for (`submit --on`), at most 32; see `WorkerLabel`.
    ///
    /// Default: none.
    public var labels: [String] = []
    /// Number of leases that run at the same time, 1...256.
    ///
    /// Default 4.
    public var slots: Int
    /// Shown by `packhorse workers`.
    ///
    /// Not guaranteed to be unique.
    ///
    /// Default: host name and process id.
    public var name: String
    /// Shown by `packhorse workers`, for example "packhorse 0.1.0".
    public var build: String
    /// Whether unencrypted connections to other machines are allowed.
    public var allowPlain = false
    /// The values of secrets named in tilesets.
    ///
    /// Default: the process environment.
    public var environment: [String: String]
    /// How long the start waits for the coordinator to create the blob store.
    ///
    /// Default 30 s.
    public var storePatience: Duration = .seconds(30)
    /// How long the worker waits for work, while its coordinator answers, before it ends; `nil` = without end.
    public var untilIdle: Duration?
    /// When the worker must have ended; `nil` = it may run without end.
    ///
    /// It takes no more work some time before, and gives back what is not finished 12 s before.
    public var deadline: ContinuousClock.Instant?
    /// How often other addresses are asked for their epochs: while the coordinator answers, and while it does not.
    var searchInterval: (answering: Duration, lost: Duration) = (.seconds(30), .seconds(2))
    /// How long their answers are waited for.
    var survey = EpochSurvey.Patience.worker
    /// Called once, when the socket to the coordinator is open.
    ///
    /// Default: does nothing.
    public var onReady: @Sendable () -> Void = {}
    /// Called by the main loop in each round, at least every five seconds.
    ///
    /// Default: does nothing.
    public var onRound: @Sendable () -> Void = {}
    /// Called before merges, at most once in two seconds, to return free memory to the system: merges need blocks of other sizes than fetches.
    ///
    /// Default: does nothing.
    public var beforeMerge: @Sendable () -> Void = {}

    /// Options with everything else at its default.
    public init(
        connect: [String], security: LinkSecurity, blobs: URL?, slots: Int = 4, name: String? = nil, build: String
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
