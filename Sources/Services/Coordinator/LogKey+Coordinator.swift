import Telemetry

/// Keys of the coordinator's log lines.
extension LogKey {
    /// Session number of a worker, decimal.
    static let session = "packhorse.session"
    /// Number of workers that the line is about.
    static let workers = "packhorse.workers"
    /// User of the key of a connection.
    static let peerUser = "packhorse.peer.user"
    /// State of a job.
    static let jobState = "packhorse.job.state"
    /// Why a job is in its state.
    static let jobReason = "packhorse.job.reason"
    /// Number of tiles of a job.
    static let tiles = "packhorse.job.tiles"
    /// Whether the job of a submission existed already.
    static let isExisting = "packhorse.job.existing"
    /// Number of jobs that have not ended.
    static let openJobs = "packhorse.jobs.open"
    /// State of a batch.
    static let batchState = "packhorse.batch.state"
    /// Number of parts of a divided batch.
    static let parts = "packhorse.batch.parts"
    /// Number of connections that the line is about.
    static let peers = "packhorse.peers"
    /// Bytes of a blob.
    static let bytes = "packhorse.bytes"
    /// Bytes of a blob that came over the network.
    static let receivedBytes = "packhorse.bytes.received"
    /// Number of blobs that the line is about.
    static let blobs = "packhorse.blobs"
    /// Free bytes of a disk.
    static let freeBytes = "packhorse.disk.free"
    /// Queues of background work, with commas.
    static let queue = "packhorse.queue"
    /// An operator's order.
    static let order = "packhorse.order"
    /// Name of an origin.
    static let origin = "packhorse.origin"
    /// The build of a source whose address changes with each build.
    static let sourceBuild = "packhorse.source.build"
    /// Id of a schedule.
    static let schedule = "packhorse.schedule"
    /// A warning to the submitter, with its remedy.
    static let warning = "packhorse.warning"
}
