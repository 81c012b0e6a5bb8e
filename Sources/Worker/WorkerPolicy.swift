internal import Foundation
internal import Wire

/// The worker's numbers.
///
/// Times are milliseconds.
struct WorkerPolicy: Hashable, Sendable {
    /// Leases worked on at the same time.
    var slots = 4
    /// Between two reports until the welcome says otherwise (docs/formats/wire.md, "Liveness").
    var heartbeat: Int64 = 5_000
    /// Without any message this long the connection is made anew: three heartbeats.
    var silence: Int64 = 15_000
    /// Without any message this long the worker ends: nobody waits for its results.
    var orphaned: Int64 = 3_600_000
    /// No work is taken this long after the own disk was full.
    var localPause: Int64 = 10_000
    /// Before hello is said again after a rejection that may pass.
    var rejectedPause: Int64 = 5_000
    /// Results not yet acknowledged beyond which no work is asked for.
    var spool = 64
    /// How long draining waits for acknowledgements; the process must be gone 10 s after SIGTERM.
    var drain: Int64 = 5_000
}

/// What a worker says of itself in its hello.
struct WorkerProfile: Hashable, Sendable {
    var name: String
    var host: String
    var build: String
    var blobStore: String
    /// Whether blobs are streamed, so that no store need be shared.
    var streams = false
    var packageFormats: [UInt32]
    /// The formats it writes beside the package itself.
    var exports: [String] = []

    func hello(held: [UInt64]) -> PBHello {
        .make {
            $0.wireMinorMin = UInt32(WireVersion.minors.lowerBound)
            $0.wireMinorMax = UInt32(WireVersion.minors.upperBound)
            $0.build = build
            $0.name = name
            $0.host = host
            $0.pid = UInt64(ProcessInfo.processInfo.processIdentifier)
            $0.canFetch = true
            $0.canMerge = true
            $0.blobStore = blobStore
            $0.streams = streams
            $0.shardFormats = [1]
            $0.packageFormats = packageFormats
            $0.exports = exports
            $0.held = held.prefix(1024).map { token in .make { $0.token = token } }
        }
    }
}
