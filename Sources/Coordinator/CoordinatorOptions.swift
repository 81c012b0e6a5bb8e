public import Catalog
public import Foundation
public import Shards
public import ZeroMQ

/// How a coordinator is to run.
public struct CoordinatorOptions: Sendable {
    /// Folder of `state.sqlite`; on a local file system.
    public var data: URL
    /// Folder of the blob store that workers share.
    public var blobs: URL
    /// Another blob store than the folder's.
    public var store: (any ManagedBlobStore)?
    /// Folder of packages.json and the packages.
    public var catalog: URL
    /// Where the command line connects.
    ///
    /// Port `*` takes a free one.
    public var controlBind = "tcp://127.0.0.1:7470"
    /// Where workers connect.
    public var workBind = "tcp://127.0.0.1:7471"
    /// Where workers without a shared blob folder connect; `nil` = they cannot.
    public var blobBind: String?
    /// What is bound instead when ``blobBind`` is in use; workers are told the port.
    public var blobFallback: String?
    /// Who may connect.
    public var security = LinkSecurity.plain
    /// Whether unencrypted traffic beyond loopback is allowed.
    public var allowPlain = false
    /// Most tiles of a bbox job that does not raise the limit itself.
    ///
    /// Default 5,000, CARTO's.
    public var bboxTileLimit: UInt64 = 5_000
    /// Absolute URL that `packages.json` puts before each package's path; lists with another one are rewritten at the start.
    ///
    /// `nil` = that of the lists that are there, else ``Catalog/defaultBaseURL``.
    public var catalogBaseURL: String?
    /// Signs `catalog.json`; needed when the catalog is signed already.
    public var signingKey: CatalogSecretKey?
    /// Versions of each package that stay in the catalog, the newest included; `nil` = all.
    ///
    /// Default 3: a patch can be made from the two before.
    public var keepVersions: Int? = 3
    /// Makes the patches from previous versions to a new one; `nil` = there are none.
    public var patchMaker: PatchMaker?
    /// From how many previous versions; default 2, HERE's rule.
    public var patchVersions = PatchRule.previousVersions
    /// How long a lease lives without progress.
    ///
    /// Unit: seconds, default 60.
    public var leaseSeconds: Double = 60
    /// How often workers report.
    ///
    /// Unit: seconds, default 5.
    public var heartbeatSeconds: Double = 5
    /// How long leases live after a restart, so that their workers can come back.
    ///
    /// Unit: seconds, default 60.
    public var restartGraceSeconds: Double = 60
    /// Whether every worker of an earlier run has ended: their batches are handed out again at once, and no attempt is counted.
    public var hasNewWorkers = false
    /// Whether shards stay in the blob store after their job has ended.
    public var keepShards = false
    /// Bytes of shards that jobs which are done keep, so that a rebuild asks the origin only for what has changed.
    ///
    /// The oldest go first, and whenever the disk of the blobs is nearly full; 0 keeps none. Default 50 GB.
    public var keptTileBytes: UInt64 = 50_000_000_000
    /// Ended jobs that are remembered; older ones go, with their reports.
    ///
    /// Default 1,000.
    public var keptJobs = 1_000
    /// Jobs that may be unfinished at a time; more are refused as `busy`.
    public var mostOpenJobs = 1_000
    /// Tells how full the disk of a folder is.
    var diskRoom: @Sendable (URL) -> DiskRoom? = DiskRoom.of
    /// Submissions that may wait for their plan.
    var mostPlans = 32
    /// Commits whose blobs may be looked for at a time; workers repeat the others.
    var mostChecks = 1_024
    /// Worker sessions that may be known at a time; as many as fit a list of workers.
    var mostSessions = 4_096
    /// Shown to people.
    public var build = "packhorse"

    /// A coordinator over three folders, with the defaults otherwise.
    public init(data: URL, blobs: URL, catalog: URL) {
        self.data = data
        self.blobs = blobs
        self.catalog = catalog
    }
}
