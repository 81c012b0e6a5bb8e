public import Blobs
public import Catalog
public import CatalogFormat
package import CatalogTransfer
internal import Files
public import Foundation
public import Notifications
package import Wire
public import ZeroMQ

/// The configuration of a coordinator.
public struct CoordinatorOptions: Sendable {
    /// Folder of `state.sqlite`.
    ///
    /// It must be on a local file system.
    public var data: URL
    /// Folder of the blob store that workers share.
    public var blobs: URL
    /// A blob store that replaces the one in ``blobs``.
    public var store: (any ManagedBlobStore)?
    /// Folder of packages.json and the packages.
    public var catalog: URL
    /// Further catalogs by name; a submission may name one of them (``PublishOptions/catalog``).
    public var otherCatalogs: [String: OtherCatalog] = [:]

    /// A catalog besides the main one.
    public struct OtherCatalog: Sendable {
        /// Folder of its packages.json and packages.
        public var folder: URL
        /// Absolute URL of the folder for clients; as ``CoordinatorOptions/catalogBaseURL``.
        public var baseURL: String?

        /// A catalog in a folder.
        public init(_ folder: URL, baseURL: String? = nil) {
            self.folder = folder
            self.baseURL = baseURL
        }
    }

    /// Where the command line connects.
    ///
    /// Port `*` takes a free port.
    public var controlBind = "tcp://127.0.0.1:7470"
    /// Where workers connect.
    public var workBind = "tcp://127.0.0.1:7471"
    /// Where workers without a shared blob folder connect; `nil` = disabled.
    public var blobBind: String?
    /// The endpoint that is bound when ``blobBind`` is in use.
    ///
    /// The coordinator tells workers its port.
    public var blobFallback: String?
    /// Who may connect.
    public var security = LinkSecurity.plain
    /// Whether unencrypted connections from other machines are allowed.
    public var allowPlain = false
    /// Largest number of tiles of a bbox job that does not raise the limit itself.
    ///
    /// Default 5,000, the limit of CARTO.
    public var bboxTileLimit: UInt64 = 5_000
    /// Absolute URL that `packages.json` puts before each package's path.
    ///
    /// Lists with another URL are rewritten at the start.
    ///
    /// `nil` = the URL of the existing lists, else ``Catalog/defaultBaseURL``.
    public var catalogBaseURL: String?
    /// Signs `catalog.json`.
    ///
    /// Required when the catalog is already signed.
    public var signingKey: CatalogSecretKey?
    /// Versions of each package that stay in the catalog, including the newest; `nil` = all.
    ///
    /// Default 3: a patch can be made from the two previous versions.
    public var keepVersions: Int? = 3
    /// Makes the patches from previous versions to a new one; `nil` = no patches.
    public var patchMaker: PatchMaker?
    /// The number of previous versions that get a patch; default 2, the rule of HERE.
    public var patchVersions = PatchRule.previousVersions
    /// Who is notified of ends of jobs, published packages and blocked origins.
    public var receivers: [NotificationReceiver] = []
    /// Reads the files that a schedule follows again, and returns its submission with what they say now.
    ///
    /// Default: none is read.
    package var readFiles: @Sendable (PBSubmit) async -> Result<PBSubmit, ScheduleFileProblem> = { _ in
        .failure(ScheduleFileProblem(text: "this coordinator reads no files of schedules", hint: ""))
    }
    /// Where the steps of jobs may push catalogs to; default: nowhere.
    package var pushPlaces = PushPlaces()
    /// Checks every byte of the catalog in a folder, and its signature if a key is given; returns the result in a line.
    ///
    /// Throws ``StepProblem``. Default: fails.
    package var verifyCatalog: @Sendable (URL, CatalogPublicKey?) async throws -> String = { _, _ in
        throw StepProblem("bad-request", "this coordinator cannot verify catalogs")
    }
    /// The pauses between the attempts of a step after a job, in seconds; one attempt more than pauses.
    var stepPauses: [Double] = [10, 60]
    /// How long a coordinator that ends waits for its background work, before the last backup of the state.
    var endPatience = Duration.seconds(20)
    /// How long a lease is valid without progress.
    ///
    /// Unit: seconds, default 60.
    public var leaseSeconds: Double = 60
    /// How often workers report.
    ///
    /// Unit: seconds, default 5.
    public var heartbeatSeconds: Double = 5
    /// How long leases stay valid after a restart, so that their workers can reconnect.
    ///
    /// Unit: seconds, default 60.
    public var restartGraceSeconds: Double = 60
    /// Whether every worker of an earlier run has ended.
    ///
    /// Then their batches are handed out again at once, and no attempt is counted.
    public var hasNewWorkers = false
    /// Whether shards stay in the blob store after their job has ended.
    public var keepShards = false
    /// Bytes of shards that finished jobs keep, so that a rebuild requests only changed tiles from the origin.
    ///
    /// The oldest are removed first, also whenever the disk of the blobs is nearly full; 0 keeps none. Default 50 GB.
    public var keptTileBytes: UInt64 = 50_000_000_000
    /// Number of ended jobs that are remembered.
    ///
    /// Older ones are forgotten together with their reports.
    ///
    /// Default 1,000.
    public var keptJobs = 1_000
    /// Number of jobs that may be unfinished at the same time.
    ///
    /// Further ones are refused as `busy`.
    public var maxOpenJobs = 1_000
    /// Called by the main loop in each round, at least every second.
    ///
    /// Default: does nothing.
    public var onRound: @Sendable () -> Void = {}
    /// Whether a page of metrics is made.
    ///
    /// Default: no.
    public var exposesMetrics = false
    /// Backups of the state that are made by themselves; `nil` = none.
    public var backups: BackupOptions?
    /// Returns how full the disk of a folder is.
    var diskSpace: @Sendable (URL) -> DiskSpace? = DiskSpace.of
    /// Pages of the state file that one slice of a backup copies.
    var backupPages = StateStore.backupPages
    /// Number of submissions that may wait for their plan.
    var maxPlans = 32
    /// Number of commits whose blobs may be looked up at the same time.
    ///
    /// Workers repeat the others.
    var maxChecks = 1_024
    /// Number of worker sessions that may be known at the same time; a list of workers holds this many.
    var maxSessions = 4_096
    /// The build name that is shown to people.
    public var build = "packhorse"

    /// A coordinator over three folders, with defaults for everything else.
    public init(data: URL, blobs: URL, catalog: URL) {
        self.data = data
        self.blobs = blobs
        self.catalog = catalog
    }
}
