/// The bounds of held requests.
///
/// Source of the times: CARTO's client ends a transfer after 60 s without a byte on some systems, proxies often after
/// 20 to 60 s, and its one retry doubles the time of a build (docs/decisions/0061-held-extracts.md).
struct ExtractRules: Sendable, Hashable {
    /// Seconds between two bytes, and before the first one.
    var heartbeat = 15.0
    /// Seconds until a request without a range is given up.
    var hold = 240.0
    /// Seconds until a request with a range is given up, without a byte.
    var rangedHold = 50.0
    /// The bytes with which every package begins, and which can be sent before it exists; the last one is kept.
    var bytes = 15
    /// Held requests in all.
    var most = 64
    /// Held requests of one client.
    var maxEach = 4
    /// Extracts that are being built.
    var maxOpen = 200
    /// Seconds after which a refused client may ask again.
    var retryAfter = 10
}
