/// The type byte of each message.
///
/// Values are never reused.
///
/// 0x01… worker to coordinator, 0x21… coordinator to worker, 0x41… command line and coordinator.
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

    /// Largest frame on a work socket, header included.
    ///
    /// Unit: bytes. Offers carry a tileset, commits a failure list.
    public static let maxWorkFrame = 256 << 10
    /// Largest frame on a control socket, header included.
    ///
    /// Unit: bytes. Submissions carry a mask per package.
    public static let maxControlFrame = 4 << 20

    /// Largest tileset description in a submission.
    ///
    /// Unit: bytes. Every offer repeats it beside its mask, and must fit a work frame.
    public static let maxTilesetBytes = 128 << 10

    /// Largest body of this type.
    ///
    /// Unit: bytes. Checked before anything is decoded.
    public var maxBodyBytes: Int {
        switch self {
        case .commit, .offer: Self.maxWorkFrame - FrameHeader.byteCount
        case .submit, .jobs, .jobStatus, .workers: Self.maxControlFrame - FrameHeader.byteCount
        case .hello, .welcome, .progress, .pong, .return: 64 << 10
        case .fail, .reject, .stale, .bye, .problem, .health: 16 << 10
        case .ready, .ack, .unknownSession, .submitted, .listJobs, .getJob, .cancelJob, .done, .listWorkers, .ping:
            1 << 10
        }
    }

    /// Bounds of the lists in this type, counted before they are decoded: a path of field numbers and the most allowed.
    var listLimits: [ListLimit] {
        switch self {
        case .hello: [.init([10], 64), .init([11], 64), .init([12], 1024)]
        case .welcome: [.init([4], 1024)]
        case .progress, .return, .pong: [.init([1], 1024)]
        case .commit: [.init([2], 1), .init([3], 1), .init([2, 8], 1000)]
        case .offer: [.init([5], 1), .init([6], 1)]
        case .submit: [.init([7], 4096), .init([7, 3], 256)]
        case .jobs: [.init([1], 1000), .init([1, 19], 4096), .init([1, 20], 10_000)]
        case .jobStatus: [.init([19], 4096), .init([20], 10_000)]
        case .workers: [.init([1], 4096)]
        default: []
        }
    }
}
