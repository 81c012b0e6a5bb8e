/// Common metadata keys of log lines.
///
/// Each name has one meaning in all processes.
///
/// Keys are dotted and lower case. Values never contain secrets or bodies. Messages are constant texts; variable data
/// is in the metadata.
public enum LogKey {
    /// Job number, decimal.
    public static let job = "packhorse.job.id"
    /// Package id as in the catalog.
    public static let package = "packhorse.package.id"
    /// Worker name as given with `--name`.
    public static let worker = "packhorse.worker.id"
    /// Batch number within its job, decimal.
    public static let batch = "packhorse.batch.index"
    /// Fencing token of a lease, decimal.
    public static let token = "packhorse.lease.token"
    /// SHA-256 of a blob.
    public static let blob = "packhorse.blob"
    /// Endpoint a socket is bound or connected to.
    public static let endpoint = "packhorse.endpoint"
    /// Path of the file or folder that the line is about.
    public static let path = "packhorse.path"
    /// Stable kebab-case error code.
    public static let errorCode = "error.code"
    /// The error's text.
    public static let errorMessage = "error.message"
    /// Epoch of the coordinator run, decimal.
    public static let epoch = "packhorse.epoch"
    /// State of a connection to the coordinator.
    public static let linkState = "packhorse.link.state"
    /// Number of leases.
    public static let leases = "packhorse.leases"
    /// Type of a message.
    public static let message = "packhorse.message"
    /// Whether a message is received (`in`) or sent (`out`).
    public static let direction = "packhorse.direction"
    /// Public CURVE key of a peer; `-` when it has none.
    public static let peerKey = "packhorse.peer.key"
    /// Network address of a peer.
    public static let peerAddress = "packhorse.peer.address"
    /// Id of an HTTP request, as in its answer.
    public static let request = "http.request.id"
    /// Why this process closed a connection.
    public static let reason = "packhorse.reason"
    /// Id of a tileset.
    public static let tileset = "packhorse.tileset.id"
    /// Name of a child process, such as `worker-1`.
    public static let process = "packhorse.process"
    /// What SIGHUP reads again: `keys`, `tokens`, `tilesets`, `configuration`.
    public static let part = "packhorse.part"
    /// What is in force after it, in a few words.
    public static let result = "packhorse.result"
    /// Seconds until the next attempt, decimal.
    public static let waitSeconds = "packhorse.wait_seconds"
}
