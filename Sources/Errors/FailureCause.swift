/// Why an attempt, a batch, a package or a tile ended badly: the closed set of causes, and what each means.
///
/// This table is the one place that says it. A cause travels and is stored as its kebab-case code; a code that is not here becomes
/// ``unknown`` where it enters (``init(named:)``, `Trouble.heard(cause:detail:)`). `http-NNN` is a family: its number is kept for people,
/// its meaning is one of ``throttled``, ``serverError``, ``passingRefusal`` and ``refused``.
///
/// Workers report after their own retries: bad bodies were fetched again, 5xx and broken connections tried again with backoff.
public enum FailureCause: String, Hashable, Sendable, CaseIterable {
    // The tile: what the origin sends for it is of no use, however often it is asked.
    case emptyBody = "empty-body"
    case htmlPage = "html-page"
    case wrongType = "wrong-type"
    case tooLarge = "too-large"
    case badCoding = "bad-coding"
    case badMVT = "bad-mvt"
    case badPNG = "bad-png"
    case badJPEG = "bad-jpeg"
    case badWebP = "bad-webp"
    case unsupportedCoding = "unsupported-coding"
    case tooManyRedirects = "too-many-redirects"
    case redirectRefused = "redirect-refused"
    /// 4xx that means it.
    case refused

    // The origin, now.
    case throttled
    case serverError = "server-error"
    /// 408, 409, 421, 423, 425: another hour may change it.
    case passingRefusal = "passing-refusal"
    case timeout
    case truncated
    case transport
    case resolveFailed = "resolve-failed"
    case connectFailed = "connect-failed"
    case tlsFailed = "tls-failed"
    case unreachable
    case unreadable
    case originDown = "origin-down"
    case originUnreachable = "origin-unreachable"
    case originUnreadable = "origin-unreadable"
    /// The archive is locked or being written by another program.
    case originBusy = "origin-busy"
    case styleUnavailable = "style-unavailable"
    /// Some tiles of the attempt failed for causes that may pass.
    case tilesFailed = "tiles-failed"

    // The job: its tileset, archive, key or specification; every batch of it will fare alike.
    case forbidden
    case invalidRequest = "invalid-request"
    case tileset
    case badTileset = "bad-tileset"
    case badArchive = "bad-archive"
    case unsupported
    case originBadArchive = "origin-bad-archive"
    case originUnsupported = "origin-unsupported"
    /// The archive has another version than the one the job is made from.
    case sourceChanged = "source-changed"
    case badSpec = "bad-spec"
    case badStyle = "bad-style"
    case nothing = "no-tiles"
    case missingTiles = "missing-tiles"

    // The worker's machine.
    case diskFull = "disk-full"
    case io
    case inputOutput = "io-error"
    case blobStore = "blob-store"
    case storeMissing = "store-missing"
    case outOfMemory = "out-of-memory"
    case engine
    case database

    // Packhorse: its processes and their files.
    case leaseExpired = "lease-expired"
    case incomplete
    case `internal`
    case badBatch = "bad-batch"
    case badManifest = "bad-manifest"
    case badCounts = "bad-counts"
    case badCommit = "bad-commit"
    case badFiles = "bad-files"
    case blobMissing = "blob-missing"
    case missingBlob = "missing-blob"
    case shardMissing = "shard-missing"
    case shardCorrupt = "shard-corrupt"
    case badShard = "bad-shard"
    case corruptShard = "corrupt-shard"
    case notAShard = "not-a-shard"
    case unsupportedVersion = "unsupported-version"
    case digestMismatch = "digest-mismatch"
    case limitExceeded = "limit-exceeded"
    case badTile = "bad-tile"
    case misuse
    case conflictingTiles = "conflicting-tiles"
    case verificationFailed = "verification-failed"
    case manifestMissing = "manifest-missing"
    case manifestCorrupt = "manifest-corrupt"
    case catalogMissing = "catalog-missing"
    case catalogCorrupt = "catalog-corrupt"
    case badRequest = "bad-request"
    case badFile = "bad-file"
    case otherTileset = "other-tileset"
    case otherArea = "other-area"
    case packageShrunk = "package-shrunk"

    // Somebody's word; nothing is wrong.
    case cancelled
    case drained
    case dropped
    case jobFailed = "job-failed"
    case jobCancelled = "job-cancelled"

    /// A code this build does not know: taken as curable, because that costs a few attempts and the other error costs tiles.
    case unknown

    /// With whom the cause lies.
    public enum Fault: String, Hashable, Sendable, CaseIterable {
        /// The tile itself; a batch that fails for it is cut until the tile stands alone.
        case tile
        /// The tile server, now.
        case origin
        /// What the job asks for; no batch of it can succeed, so none is cut.
        case job
        /// The machine of the worker, which then rests.
        case worker
        /// Packhorse's own processes or files.
        case packhorse
        /// Nobody: an order was followed.
        case nobody
    }

    /// Whether another attempt may end otherwise.
    public var isRetriable: Bool {
        switch fault {
        case .tile: self == .emptyBody
        case .job: false
        case .origin, .worker: true
        case .nobody: self == .cancelled || self == .drained
        case .packhorse: !FailureCause.lasting.contains(self)
        }
    }

    /// Faults of Packhorse itself that another attempt repeats.
    private static let lasting: Set<FailureCause> = [
        .badBatch, .badManifest, .unsupportedVersion, .conflictingTiles, .badRequest, .badFile,
    ]

    /// With whom it lies.
    public var fault: Fault {
        switch self {
        case .emptyBody, .htmlPage, .wrongType, .tooLarge, .badCoding, .badMVT, .badPNG, .badJPEG, .badWebP,
            .unsupportedCoding, .tooManyRedirects, .redirectRefused, .refused:
            .tile
        case .throttled, .serverError, .passingRefusal, .timeout, .truncated, .transport, .resolveFailed,
            .connectFailed, .tlsFailed, .unreachable, .unreadable, .originDown, .originUnreachable, .originUnreadable,
            .originBusy, .styleUnavailable, .tilesFailed:
            .origin
        case .forbidden, .invalidRequest, .tileset, .badTileset, .badArchive, .unsupported, .originBadArchive,
            .originUnsupported, .sourceChanged, .badSpec, .badStyle, .nothing, .missingTiles, .otherTileset,
            .otherArea, .packageShrunk:
            .job
        case .diskFull, .io, .inputOutput, .blobStore, .storeMissing, .outOfMemory, .engine, .database: .worker
        case .cancelled, .drained, .dropped, .jobFailed, .jobCancelled: .nobody
        default: .packhorse
        }
    }

    /// Whether an attempt that ends so counts towards the number after which the work is given up.
    ///
    /// Being asked to wait says nothing against the work, and neither does a lock on an archive, an order, nor a disk that is full or
    /// broken: the worker rests, and another one tries.
    public var costsAttempt: Bool {
        let isWait = self == .throttled || self == .originBusy
        return !isWait && self != .inputOutput && fault != .nobody && !isWantOfRoom
    }

    /// Whether a merge that ends so counts.
    ///
    /// An error of a disk does: what cannot be read may be a shard in the folder that all workers share.
    package var costsMerge: Bool { !isWantOfRoom }

    /// Disks and stores that have no room or are not there: it lasts until somebody makes room, and no number of attempts is too many.
    private var isWantOfRoom: Bool { self == .diskFull || self == .blobStore || self == .storeMissing }

    /// Whether a batch that dies of it is cut in quarters first: not when every part would fare like the whole.
    package var isWorthCutting: Bool { fault != .job && fault != .nobody && !FailureCause.ofTheWhole.contains(self) }

    /// Causes that meet every part of a batch like the batch itself: an origin that cannot be opened, a shard that is gone.
    private static let ofTheWhole: Set<FailureCause> =
        lasting.union([.originUnreachable, .originUnreadable, .originBusy, .shardMissing, .shardCorrupt])

    // MARK: - Codes

    /// HTTP statuses outside 5xx that another hour may change: timeout, misdirected, conflict of caches, too early.
    private static let passing: Set<Int> = [408, 409, 421, 423, 425]

    /// The cause with this code; ``unknown`` for any other text.
    public init(named code: String) {
        if let known = FailureCause(rawValue: code) {
            self = known
        } else if let status = FailureCause.status(code) {
            switch status {
            case 429: self = .throttled
            // A server that cannot do what is asked will not learn it.
            case 501, 505: self = .refused
            case 500...599: self = .serverError
            default: self = FailureCause.passing.contains(status) ? .passingRefusal : .refused
            }
        } else {
            self = .unknown
        }
    }

    /// The status of a code `http-NNN`.
    private static func status(_ code: String) -> Int? {
        guard code.hasPrefix("http-"), code.utf8.count == 8, let status = Int(code.dropFirst(5)),
            (100...599).contains(status)
        else { return nil }
        return status
    }

    /// Whether the code is of the set, or of the family `http-NNN`.
    package static func isKnown(_ code: String) -> Bool { FailureCause(rawValue: code) != nil || status(code) != nil }

    /// Whether another attempt may end otherwise; by code.
    package static func isRetriable(_ code: String) -> Bool { FailureCause(named: code).isRetriable }

    /// Causes that lie with the worker's machine, not with the work.
    package static let local = codes { $0.fault == .worker && $0 != .database && $0 != .engine && $0 != .io }

    /// A merge that cannot read shards names them; their batches are fetched again.
    package static let lostShard = codes { $0 == .shardMissing || $0 == .shardCorrupt }

    /// A merger that cannot read its manifest: it is written anew.
    package static let lostManifest = codes { $0 == .manifestMissing || $0 == .manifestCorrupt }

    /// A merged package that is gone before it was published: it is merged anew.
    package static let lostPackage = FailureCause.blobMissing.rawValue

    /// A package without a single tile: nothing anybody wants to publish.
    package static let noTiles = FailureCause.nothing.rawValue

    private static func codes(_ isOne: (FailureCause) -> Bool) -> Set<String> {
        Set(allCases.filter(isOne).map(\.rawValue))
    }
}
