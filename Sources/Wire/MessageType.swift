/// The type byte of each message.
///
/// Values are never reused.
///
/// 0x01… worker to coordinator, 0x21… coordinator to worker, 0x41… command line and coordinator, 0x61… blobs, 0x7B an order about an origin.
public enum MessageType: UInt8, CaseIterable, Sendable {
    case hello = 0x01
    case ready = 0x02
    case progress = 0x03
    case commit = 0x04
    case fail = 0x05
    case `return` = 0x06
    case bye = 0x07

    case welcome = 0x21
    case reject = 0x22
    case offer = 0x23
    case pong = 0x24
    case ack = 0x25
    case stale = 0x26
    case unknownSession = 0x27
    case rateGrants = 0x28

    case submit = 0x41
    case submitted = 0x42
    case listJobs = 0x43
    case jobs = 0x44
    case getJob = 0x45
    case jobStatus = 0x46
    case cancelJob = 0x47
    case done = 0x48
    case listWorkers = 0x49
    case workers = 0x4A
    case ping = 0x4B
    case health = 0x4C
    case problem = 0x4D
    case jobOrder = 0x4E
    case listDead = 0x4F
    case deadLetters = 0x50
    case deadOrder = 0x51
    case ordered = 0x52
    case putSchedule = 0x53
    case dropSchedule = 0x54
    case listSchedules = 0x55
    case schedules = 0x56
    case listOrigins = 0x57
    case origins = 0x58
    case getEvents = 0x59
    case events = 0x5A
    case backup = 0x5B
    case backedUp = 0x5C
    case drainWorker = 0x5D
    case originOrder = 0x7B

    case putBegin = 0x61
    case have = 0x62
    case chunk = 0x63
    case putEnd = 0x64
    case stored = 0x65
    case get = 0x66
    case blobSize = 0x67
    case blobRefused = 0x68

    /// Largest frame on a work socket, header included.
    ///
    /// Unit: bytes. Offers carry a tileset, commits a failure list.
    public static let maxWorkFrame = 256 << 10
    /// Largest frame on a control socket, header included.
    ///
    /// Unit: bytes. Submissions carry a mask per package.
    public static let maxControlFrame = 4 << 20

    /// Largest frame on a blob socket, header included.
    ///
    /// Unit: bytes. One chunk of at most ``maxChunkBytes``.
    public static let maxBlobFrame = (1 << 20) + (4 << 10)
    /// Most bytes of a blob in one chunk.
    public static let maxChunkBytes = 1 << 20

    /// Largest tileset description in a submission.
    ///
    /// Unit: bytes. Every offer contains it together with its mask, and must fit a work frame.
    public static let maxTilesetBytes = 128 << 10

    /// Largest number of formats of a package in addition to MBTiles, and of formats in a worker's hello.
    public static let maxFormats = 32

    /// Largest body of this type.
    ///
    /// Unit: bytes. Checked before anything is decoded.
    public var maxBodyBytes: Int {
        switch self {
        case .commit, .offer: Self.maxWorkFrame - FrameHeader.byteCount
        case .submit, .jobs, .jobStatus, .workers, .deadLetters, .putSchedule, .schedules, .origins, .events:
            Self.maxControlFrame - FrameHeader.byteCount
        case .chunk: Self.maxBlobFrame - FrameHeader.byteCount
        case .hello, .welcome, .progress, .pong, .return, .rateGrants, .deadOrder: 64 << 10
        case .fail, .reject, .stale, .bye, .problem, .health, .ordered, .backup, .backedUp, .blobRefused: 16 << 10
        case .ready, .ack, .unknownSession, .submitted, .listJobs, .getJob, .cancelJob, .done, .listWorkers, .ping,
            .jobOrder, .listDead, .dropSchedule, .listSchedules, .listOrigins, .getEvents, .drainWorker, .originOrder,
            .putBegin,
            .have, .putEnd,
            .stored, .get, .blobSize:
            1 << 10
        }
    }

    /// The wire minor that brought this type: a peer that speaks a lower one is not sent it.
    ///
    /// All are of minor 0; a type that a later minor adds gets a case here.
    public var minor: UInt8 { 0 }

    /// Limits of the lists in this type, counted before they are decoded: a path of field numbers and the limit.
    var listLimits: [ListLimit] {
        switch self {
        case .hello: [.init([10], 64), .init([11], 64), .init([12], 1024), .init([14], Self.maxFormats)]
        case .welcome: [.init([4], 1024)]
        case .progress: [.init([1], 1024), .init([2], 256)]
        case .pong: [.init([1], 1024), .init([3], 256)]
        case .fail: [.init([5], 100)]
        case .return: [.init([1], 1024)]
        case .rateGrants: [.init([1], 256)]
        case .commit: [.init([2], 1), .init([3], 1), .init([2, 8], 1000), .init([3, 5], Self.maxFormats)]
        case .offer: [.init([5], 1), .init([6], 1), .init([5, 8], 256), .init([5, 9], 256)]
        case .submit:
            [
                .init([7], 4096), .init([7, 3], 40_000), .init([7, 6], 4096 * Self.maxFormats), .init([13], 64),
                .init([15], Self.maxFormats), .init([7, 7], 4096 * 5), .init([7, 7, 4], 100_000),
            ]
        case .jobs:
            [
                .init([1], 1000), .init([1, 19], 4096), .init([1, 20], 10_000),
                .init([1, 19, 9], 4096 * Self.maxFormats), .init([1, 28], 1000 * Self.maxFormats),
            ]
        case .jobStatus:
            [
                .init([19], 4096), .init([20], 10_000), .init([19, 9], 4096 * Self.maxFormats),
                .init([28], Self.maxFormats),
            ]
        case .workers: [.init([1], 4096)]
        case .deadLetters: [.init([1], 1000), .init([1, 12], 10_000)]
        case .deadOrder: [.init([3], 4096)]
        case .listJobs: [.init([221], 16)]
        case .schedules, .origins: [.init([1], 1000)]
        case .events: [.init([1], 10_000)]
        default: []
        }
    }
}
