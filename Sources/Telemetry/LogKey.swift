/// The metadata keys of every log line, so that one name means one thing in all processes.
///
/// Keys are dotted and lower case; values never hold secrets or bodies. Messages are constant texts, what varies is metadata.
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
    /// Path of the file or folder at hand.
    public static let path = "packhorse.path"
    /// Stable kebab-case error code.
    public static let errorCode = "error.code"
    /// The error's text.
    public static let errorMessage = "error.message"
    /// Coordinator incarnation, decimal.
    public static let epoch = "packhorse.epoch"
}
