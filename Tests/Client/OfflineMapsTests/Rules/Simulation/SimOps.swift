@testable import OfflineMaps

/// Something that the shell of a world does for the machine.
struct SimOp {
    enum Kind {
        case plan(TaskRecord)
        case list
        case fetch(DownloadItem, digest: String, isBad: Bool)
        case verify(DownloadItem)
        case patch(DownloadItem)
        case prepare(DownloadItem)

        var usesNetwork: Bool {
            switch self {
            case .list, .fetch: true
            default: false
            }
        }

        /// Whether it works on files of the disk alone.
        var isStep: Bool {
            switch self {
            case .verify, .patch, .prepare: true
            default: false
            }
        }
    }
    var id: OpID
    var task: TaskID
    var kind: Kind

    var usesNetwork: Bool { kind.usesNetwork }
}

/// What a seed makes likely.
struct SimSwarm {
    var crashes: Int
    var network: Int
    var server: Int
    var isSlow: Bool
    var fullDisk: Bool
    var quota: UInt64?
    var tilePacks: Int
    var previousVersions: Int
    var suspends: Bool
    var stops: Bool
    var olderLists: Bool
    var damages: Bool

    init(_ random: inout SimRandom) {
        crashes = random.pick([0, 2, 6, 20])
        network = random.pick([0, 0, 10, 60])
        server = random.pick([0, 10, 60, 200])
        isSlow = random.perMille(300)
        fullDisk = random.perMille(300)
        quota = random.perMille(400) ? UInt64(random.within(15_000_000...90_000_000)) : nil
        tilePacks = random.perMille(200) ? random.within(2...6) : 750
        previousVersions = random.perMille(300) ? random.within(1...2) : 0
        suspends = random.perMille(300)
        stops = random.perMille(300)
        olderLists = random.perMille(300)
        damages = random.perMille(400)
    }
}
