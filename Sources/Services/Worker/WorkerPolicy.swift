internal import Foundation
internal import Wire

/// Limits and intervals of the worker.
///
/// Times are milliseconds.
struct WorkerPolicy: Hashable, Sendable {
    /// Number of leases that run at the same time.
    var slots = 4
    /// The interval of reports until the welcome message sets another one.
    var heartbeat: Int64 = 5_000
    /// Time without any message before the connection is replaced: three heartbeats.
    static let silence: Int64 = 15_000
    /// Time without any message after which other addresses are asked: two heartbeats and two seconds.
    static let lost: Int64 = 12_000
    /// Time without any message before the worker ends, because its results are no longer needed.
    var orphaned: Int64 = 3_600_000
    /// Time without work, while the coordinator answers, before the worker ends; `nil` = never.
    var untilIdle: Int64?
    /// When the worker must have ended; `nil` = never.
    var timeLimit: Int64?
    /// Time before the limit at which everything is given back: draining, and the end of the process.
    static let drainReserve: Int64 = 12_000
    /// The least time before that at which no more work is taken, where the limit allows it.
    static let leaveReserve: Int64 = 30_000
    /// How long no work is taken after the local disk was full.
    static let localPause: Int64 = 10_000
    /// Time before hello is sent again after a temporary rejection.
    static let rejectedPause: Int64 = 5_000
    /// Number of unacknowledged results beyond which no work is requested.
    var spool = 64
    /// How long draining waits for acknowledgements.
    ///
    /// The process must end within 10 s after SIGTERM.
    static let drain: Int64 = 5_000

    /// The policy of a worker with these options.
    ///
    /// - Parameter now: The instant that the time limit of the policy counts from.
    init(_ options: WorkerOptions, now: ContinuousClock.Instant = .now) {
        self.init(slots: options.slots)
        if let idle = options.untilIdle {
            untilIdle = idle.milliseconds
            // A worker without a coordinator has no work either, but a restart of the coordinator must not end it.
            orphaned = max(idle.milliseconds, 60_000)
        }
        timeLimit = options.deadline.map { (now.duration(to: $0)).milliseconds }
    }

    /// The defaults, with another number of slots.
    init(slots: Int = 4) { self.slots = slots }
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}

/// The description of a worker in its hello.
struct WorkerProfile: Hashable, Sendable {
    var name: String
    var host: String
    var build: String
    var blobStore: String
    /// Whether blobs are streamed, so that no store needs to be shared.
    var streams = false
    var packageFormats: [UInt32]
    /// The formats that it writes in addition to MBTiles.
    var exports: [String] = []
    /// Words that jobs may ask for.
    var labels: [String] = []

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
            $0.plansRanges = true
            $0.labels = labels
            $0.held = held.prefix(1024).map { token in .make { $0.token = token } }
        }
    }
}
