/// Why an attempt, a batch, a package or a tile failed: the closed set of causes and their consequences.
///
/// A cause is sent and stored as its kebab-case code. An unknown code becomes ``unknown`` when it is decoded
/// (``init(named:)``, `Trouble.reported(cause:detail:)`). `http-NNN` is a family: its number is kept for people, and it
/// is treated as ``throttled``, ``serverError``, ``passingRefusal`` or ``refused``.
///
/// Workers report causes after their own retries: invalid bodies were fetched again, 5xx and broken connections were
/// retried with backoff.
///
/// A new cause is a case, its ``fault``, a row in docs/operating/troubleshooting.md, and the code that reports it.
public enum FailureCause: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    // Causes of the tile: what the origin sends for it is unusable, however often it is requested.
    case emptyBody = "empty-body"
    case htmlPage = "html-page"
    /// A map service answers with an exception in place of a picture.
    case serviceException = "service-exception"
    /// A body that the tileset's key `reject` names as a refusal.
    case rejectedBody = "rejected-body"
    case wrongType = "wrong-type"
    case tooLarge = "too-large"
    case badCoding = "bad-coding"
    case badMVT = "bad-mvt"
    case badMLT = "bad-mlt"
    case badImage = "bad-image"
    case unsupportedCoding = "unsupported-coding"
    /// What an archive has for the tile is no tile: the package is made without it (docs/decisions/0083).
    case leftOut = "left-out"
    case tooManyRedirects = "too-many-redirects"
    case redirectRefused = "redirect-refused"
    /// A permanent 4xx.
    case refused

    // Causes of the origin that may be temporary.
    case throttled
    case serverError = "server-error"
    /// 408, 409, 421, 423, 425: a later attempt may succeed.
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
    /// Some tiles of the attempt failed for causes that may be temporary.
    case tilesFailed = "tiles-failed"

    // Causes of the job: its tileset, archive, key or specification. Every batch of the job fails in the same way.
    case forbidden
    case invalidRequest = "invalid-request"
    case tileset
    case badTileset = "bad-tileset"
    case badArchive = "bad-archive"
    case unsupported
    case originBadArchive = "origin-bad-archive"
    case originUnsupported = "origin-unsupported"
    /// The server of an archive answered 401, 403, 404, 410 or the like: its address or key is wrong or has expired.
    case originRefused = "origin-refused"
    /// A tile server has refused every request so far.
    case allRefused = "all-refused"
    /// The archive has another version than the one that the job uses.
    case sourceChanged = "source-changed"
    case badSpec = "bad-spec"
    /// The merged package exceeds a limit of its format.
    case packageTooLarge = "package-too-large"
    case badStyle = "bad-style"
    case nothing = "no-tiles"
    case missingTiles = "missing-tiles"

    // Causes of the worker's machine.
    case diskFull = "disk-full"
    case io
    case inputOutput = "io-error"
    case blobStore = "blob-store"
    case storeMissing = "store-missing"
    case outOfMemory = "out-of-memory"
    case library = "library-failed"
    case database

    // Causes of Packhorse: its processes and their files.
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
    /// The package from which an export is made cannot be read.
    case badSource = "bad-source"
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
    case unknownCatalog = "unknown-catalog"
    case otherArea = "other-area"
    case packageShrunk = "package-shrunk"

    // An operator action; not an error.
    case cancelled
    case drained
    case dropped
    case jobFailed = "job-failed"
    case jobCancelled = "job-cancelled"

    /// A code that this build does not know. Treated as retriable, because that costs a few attempts, while the
    /// opposite error would lose tiles.
    case unknown

    /// The code, in kebab-case.
    public var description: String { rawValue }

    /// The component that caused the failure.
    public enum Fault: String, Hashable, Sendable, CaseIterable {
        /// The tile itself. A batch that fails for it is split until the tile is alone in its batch.
        case tile
        /// The tile server, at this time.
        case origin
        /// The job's specification. No batch of it can succeed, so none is split.
        case job
        /// The machine of the worker, which then gets no offers for a while.
        case worker
        /// Packhorse's own processes or files.
        case packhorse
        /// None: an order was carried out.
        case noFault
    }

    /// Whether another attempt may have a different result.
    public var isRetriable: Bool {
        switch fault {
        case .tile: self == .emptyBody
        case .job: false
        case .origin, .worker: true
        case .noFault: self == .cancelled || self == .drained
        case .packhorse: !FailureCause.lasting.contains(self)
        }
    }

    /// Faults of Packhorse that another attempt repeats.
    private static let lasting: Set<FailureCause> = [
        .badBatch, .badManifest, .unsupportedVersion, .conflictingTiles, .badRequest, .badFile,
    ]

    /// The component that caused the failure.
    public var fault: Fault {
        switch self {
        case .emptyBody, .htmlPage, .serviceException, .rejectedBody, .wrongType, .tooLarge, .badCoding, .badMVT,
            .badMLT, .badImage, .unsupportedCoding, .leftOut, .tooManyRedirects, .redirectRefused, .refused:
            .tile
        case .throttled, .serverError, .passingRefusal, .timeout, .truncated, .transport, .resolveFailed,
            .connectFailed, .tlsFailed, .unreachable, .unreadable, .originDown, .originUnreachable, .originUnreadable,
            .originBusy, .styleUnavailable, .tilesFailed:
            .origin
        case .forbidden, .invalidRequest, .tileset, .badTileset, .badArchive, .unsupported, .originBadArchive,
            .originUnsupported, .originRefused, .allRefused, .sourceChanged, .badSpec, .packageTooLarge, .badStyle,
            .nothing, .missingTiles,
            .otherTileset, .unknownCatalog, .otherArea, .packageShrunk:
            .job
        case .diskFull, .io, .inputOutput, .blobStore, .storeMissing, .outOfMemory, .library, .database: .worker
        case .cancelled, .drained, .dropped, .jobFailed, .jobCancelled: .noFault
        case .leaseExpired, .incomplete, .internal, .badBatch, .badManifest, .badCounts, .badCommit, .badFiles,
            .blobMissing, .missingBlob, .shardMissing, .shardCorrupt, .badShard, .badSource, .corruptShard,
            .notAShard, .unsupportedVersion, .digestMismatch, .limitExceeded, .badTile, .misuse, .conflictingTiles,
            .verificationFailed, .manifestMissing, .manifestCorrupt, .catalogMissing, .catalogCorrupt, .badRequest,
            .badFile, .unknown:
            .packhorse
        }
    }

    /// Whether an attempt that ends with this cause counts towards the limit of attempts.
    ///
    /// A request to wait is no evidence against the work; neither is a lock on an archive, an order, or a disk that is
    /// full or broken. The worker gets no offers for a while, and another one tries.
    public var costsAttempt: Bool {
        let isWait = self == .throttled || self == .originBusy
        return !isWait && self != .inputOutput && fault != .noFault && !isStorageUnavailable
    }

    /// Whether a merge that ends with this cause counts.
    ///
    /// A disk error counts: the unreadable file may be a shard in the folder that all workers share.
    package var costsMerge: Bool { !isStorageUnavailable }

    /// Disks and stores that are full or unavailable.
    ///
    /// This lasts until an operator frees space, so the number of attempts is not limited.
    private var isStorageUnavailable: Bool { self == .diskFull || self == .blobStore || self == .storeMissing }

    /// Whether the first report of it ends the whole job: every other batch would get the same answer, at the cost of requests.
    package var endsJob: Bool { self == .originRefused || self == .originUnsupported }

    /// Whether a batch that fails with this cause is split first.
    ///
    /// False when every part would fail like the whole.
    package var isWorthCutting: Bool { fault != .job && fault != .noFault && !FailureCause.ofTheWhole.contains(self) }

    /// Causes that affect every part of a batch like the batch itself: an origin that cannot be opened, a missing
    /// shard.
    private static let ofTheWhole: Set<FailureCause> =
        lasting.union([.originUnreachable, .originUnreadable, .originBusy, .shardMissing, .shardCorrupt])

    // MARK: - Codes

    /// HTTP statuses outside 5xx that may be temporary: timeout, misdirected request, conflict of caches, too early.
    private static let passing: Set<Int> = [408, 409, 421, 423, 425]

    /// The cause with this code; ``unknown`` for any other text.
    public init(named code: String) {
        if let known = FailureCause(rawValue: code) {
            self = known
        } else if let status = FailureCause.status(code) {
            switch status {
            case 429: self = .throttled
            // A server that does not support the request will not support it later.
            case 501, 505: self = .refused
            case 500...599: self = .serverError
            default: self = FailureCause.passing.contains(status) ? .passingRefusal : .refused
            }
        } else {
            self = .unknown
        }
    }

    /// The status of a code `http-NNN`.
    static func status(_ code: String) -> Int? {
        guard code.hasPrefix("http-"), code.utf8.count == 8, let status = Int(code.dropFirst(5)),
            (100...599).contains(status)
        else { return nil }
        return status
    }

    /// Whether the code is in the set or in the family `http-NNN`.
    package static func isKnown(_ code: String) -> Bool { FailureCause(rawValue: code) != nil || status(code) != nil }

    /// Whether another attempt may end otherwise; by code.
    package static func isRetriable(_ code: String) -> Bool { FailureCause(named: code).isRetriable }

    /// Causes of the worker's machine, not of the work.
    package static let local = codes { $0.fault == .worker && $0 != .database && $0 != .library && $0 != .io }

    /// A merge that cannot read shards names them; their batches are fetched again.
    package static let lostShard = codes { $0 == .shardMissing || $0 == .shardCorrupt }

    /// A merger cannot read its manifest.
    ///
    /// The manifest is written again.
    package static let lostManifest = codes { $0 == .manifestMissing || $0 == .manifestCorrupt }

    /// A merged package is missing before it was published.
    ///
    /// It is merged again.
    package static let lostPackage = FailureCause.blobMissing.rawValue

    /// A package without any tile.
    ///
    /// It is not published.
    package static let noTiles = FailureCause.nothing.rawValue

    private static func codes(_ isOne: (FailureCause) -> Bool) -> Set<String> {
        Set(allCases.filter(isOne).map(\.rawValue))
    }
}
