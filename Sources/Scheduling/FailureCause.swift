/// What is known of the causes workers report: kebab-case codes, an open set on the wire.
enum FailureCause {
    /// Causes another attempt will not cure.
    ///
    /// An unknown cause is taken as curable: that costs two more attempts, the other error costs a tile.
    private static let permanent: Set<String> = [
        "html-page", "wrong-type", "bad-mvt", "bad-image", "too-large", "forbidden", "unauthorized", "http-400",
        "http-401", "http-403",
        "http-405", "http-406", "http-410", "http-414", "bad-url", "unsupported", "too-many-redirects",
    ]

    static func isRetriable(_ cause: String) -> Bool { !permanent.contains(cause) }

    /// Causes that lie with the worker's machine, not with the work.
    static let local: Set<String> = ["disk-full", "io-error", "blob-store", "out-of-memory"]

    /// A merge that cannot read a shard names it in its detail; the batch is fetched again.
    static let lostShard: Set<String> = ["shard-missing", "shard-corrupt"]

    /// A merger that cannot read its manifest: it is written anew.
    static let lostManifest: Set<String> = ["manifest-missing", "manifest-corrupt"]
}
