/// What is known of the causes workers report: kebab-case codes, an open set on the wire.
///
/// Tiles fail with the codes of `TransferError`, `TileBodiesError` and `OriginsError`, and with `forbidden`, `unsupported-coding` and
/// `http-NNN` of `ResponseJudge`. A worker reports them after its own retries: bad bodies were fetched again, 5xx and broken connections
/// tried again with backoff.
enum FailureCause {
    /// Causes another attempt will not cure.
    ///
    /// An unknown cause is taken as curable: that costs two more attempts, the other error costs a tile. Curable are what may lie with
    /// one worker or one hour: `timeout`, `truncated`, `transport`, `connect-failed`, `resolve-failed`, `tls-failed`, `unreachable`,
    /// `unreadable`, `cancelled`, `engine`.
    private static let permanent: Set<String> = [
        // Bodies, the same several times in a row.
        "html-page", "wrong-type", "too-large", "bad-gzip", "bad-mvt", "bad-png", "bad-jpeg", "bad-webp",
        "unsupported-coding",
        // What the server means.
        "forbidden", "too-many-redirects", "redirect-refused", "invalid-request",
        // Tileset and archive.
        "tileset", "bad-archive", "unsupported",
    ]

    /// HTTP statuses outside 5xx that another hour may change: timeout, misdirected, conflict of caches, too early, too many requests.
    private static let passing: Set<Int> = [408, 409, 421, 423, 425, 429]

    static func isRetriable(_ cause: String) -> Bool {
        guard cause.hasPrefix("http-"), let status = Int(cause.dropFirst(5)) else { return !permanent.contains(cause) }
        // A server that cannot do what is asked (501, 505) will not learn it.
        return (500...599).contains(status) ? status != 501 && status != 505 : passing.contains(status)
    }

    /// Causes that lie with the worker's machine, not with the work.
    static let local: Set<String> = ["disk-full", "io-error", "blob-store", "out-of-memory"]

    /// A merge that cannot read a shard names it in its detail; the batch is fetched again.
    static let lostShard: Set<String> = ["shard-missing", "shard-corrupt"]

    /// A merger that cannot read its manifest: it is written anew.
    static let lostManifest: Set<String> = ["manifest-missing", "manifest-corrupt"]

    /// A merged package that is gone before it was published: it is merged anew.
    static let lostPackage = "blob-missing"

    /// A package without a single tile: nothing anybody wants to publish.
    static let noTiles = "no-tiles"
}
