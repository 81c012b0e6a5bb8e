internal import WebServer

/// What kind of requests share a rate.
enum RateKind: String, Sendable, Hashable, CaseIterable {
    case tiles, files, api, submissions, extracts, samples
}

/// How many requests a client may send.
struct RateLimit: Sendable, Hashable {
    /// Requests for each second in the long run.
    var perSecond: Double
    /// Requests at once.
    var burst: Double
}

/// Token buckets of clients, as a value.
///
/// At most ``most`` buckets exist. A bucket that is dropped was not used for the longest time; a new one is full.
struct RateBuckets: Sendable {
    /// Whose bucket it is.
    enum Client: Sendable, Hashable {
        case token(String)
        case network(NetworkAddress)
    }

    private struct Key: Hashable {
        let client: Client
        let kind: RateKind
    }

    private struct Bucket {
        var level: Double
        /// Unit: seconds of the caller's clock.
        var at: Double
    }

    static let maxBuckets = 65_536
    /// The limits of a client without a factor of its own.
    static let standard: [RateKind: RateLimit] = [
        .tiles: RateLimit(perSecond: 200, burst: 800), .files: RateLimit(perSecond: 20, burst: 40),
        .api: RateLimit(perSecond: 20, burst: 40), .submissions: RateLimit(perSecond: 1, burst: 5),
        .extracts: RateLimit(perSecond: 10.0 / 3_600, burst: 10),
        .samples: RateLimit(perSecond: 60.0 / 3_600, burst: 30),
    ]

    private let limits: [RateKind: RateLimit]
    // The buckets that were used since the last change of generations, and those of the generation before.
    private var young: [Key: Bucket] = [:]
    private var old: [Key: Bucket] = [:]

    init(limits: [RateKind: RateLimit] = standard) { self.limits = limits }

    /// How many buckets exist.
    var count: Int { young.count + old.count }

    /// Counts a request.
    ///
    /// - Parameters:
    ///   - factor: Of the client's limits; 0 has no limit.
    ///   - now: Seconds of a clock that never goes back; an earlier time counts as the last one.
    /// - Returns: `nil` when the request is allowed, else the seconds until the next one is.
    mutating func countRequest(_ client: Client, _ kind: RateKind, factor: Double = 1, now: Double) -> Double? {
        guard let limit = limits[kind], factor > 0 else { return nil }
        let key = Key(client: client, kind: kind)
        let (rate, burst) = (limit.perSecond * factor, max(1, limit.burst * factor))
        var bucket = young[key] ?? old.removeValue(forKey: key) ?? Bucket(level: burst, at: now)
        let time = max(now, bucket.at)
        bucket.level = min(burst, bucket.level + (time - bucket.at) * rate)
        bucket.at = time
        defer { put(bucket, key) }
        guard bucket.level >= 1 else { return (1 - bucket.level) / rate }
        bucket.level -= 1
        return nil
    }

    private mutating func put(_ bucket: Bucket, _ key: Key) {
        if young[key] == nil, young.count >= Self.maxBuckets / 2 {
            old = young
            young = [:]
        }
        young[key] = bucket
    }
}
