public import Digests

/// The state of a package.
public enum PackageState: UInt8, Hashable, Sendable, CaseIterable {
    /// Some of its batches have not reached a final state.
    case waiting = 0
    /// Its manifest is being written.
    case manifest = 1
    /// Waiting for a merger.
    case ready = 2
    /// Granted to a merger; `token` is current.
    case leased = 3
    /// Waiting for its next attempt.
    case backoff = 4
    /// Merged and durable as a blob; being published.
    case publishing = 5
    /// In the catalog as a new version.
    case published = 6
    /// Already in the catalog, byte for byte.
    case unchanged = 7
    /// Failed permanently; `trouble` says why.
    case failed = 8

    /// Whether the package is in the catalog.
    public var isPublished: Bool { self == .published || self == .unchanged }
}

/// One package of a job, in memory and as a row.
public struct Package: Hashable, Sendable {
    /// File-name safe id.
    public let id: String
    /// Tiles in its mask.
    public let tiles: UInt64
    /// Its state; it changes only by ``apply(_:)``.
    public fileprivate(set) var state: PackageState = .waiting
    /// Attempts of merging or publishing that ended with a reported failure.
    public internal(set) var attempts: UInt8 = 0
    /// Leases that expired without a report.
    public internal(set) var losses: UInt8 = 0
    /// The current lease, or the one whose commit was accepted.
    public internal(set) var token: LeaseToken?
    /// The session that holds the lease.
    public internal(set) var owner: SessionID = 0
    /// SHA-256 of the merge manifest.
    public internal(set) var manifest: Digest?
    /// The merged package.
    public internal(set) var merged: MergedPackage?
    /// Version in the catalog; 0 before publication.
    public internal(set) var version: UInt32 = 0
    /// Path in the catalog folder.
    public internal(set) var path = ""
    /// Why the last attempt failed.
    public internal(set) var trouble: Trouble?

    /// A package that waits for its tiles.
    public init(id: String, tiles: UInt64) {
        self.id = id
        self.tiles = tiles
    }

    /// A package as read from a store.
    public init(
        id: String, tiles: UInt64, state: PackageState, attempts: UInt8, losses: UInt8, token: LeaseToken?,
        owner: SessionID,
        manifest: Digest?, merged: MergedPackage?, version: UInt32, path: String, trouble: Trouble?
    ) {
        self.init(id: id, tiles: tiles)
        self.state = state
        self.attempts = attempts
        self.losses = losses
        self.token = token
        self.owner = owner
        self.manifest = manifest
        self.merged = merged
        self.version = version
        self.path = path
        self.trouble = trouble
    }
}

/// A change in the life of a package; see ``Package/apply(_:)``.
enum PackageTransition: Hashable, Sendable {
    /// Every batch with tiles of the package has reached a final state.
    case batchesEnded
    /// Some of its batches are fetched again, so no manifest can be written now.
    case batchesReopened
    /// Its manifest is durable.
    case manifestStored(Digest)
    /// Its manifest is durable, and the catalog has a package that was made from exactly this manifest.
    case foundInCatalog(MergedPackage, manifest: Digest)
    /// A merger got a lease of it.
    case granted(LeaseToken, to: SessionID)
    /// The lease ended without an attempt.
    case returned
    /// A merger committed its files.
    case merged(MergedPackage)
    /// An attempt failed, and another one follows after a wait.
    case postponed
    /// The wait for another attempt is over.
    case retried(hasOpenBatches: Bool)
    /// The catalog has it; `isUnchanged` = it already had these bytes.
    case published(version: UInt32, path: String, isUnchanged: Bool)
    /// No further attempt follows.
    case failed
    /// Its job ended before it was published. The failure is recorded unless an earlier one is known.
    case jobEnded(Trouble)
    /// It must be built from the start. Only its published version and path stay known.
    case rewound
}

extension Package {
    /// Changes the state, and the fields that change with it.
    ///
    /// ```
    /// waiting ◄────────────── retried ─┐
    ///    │ batchesEnded                │
    ///    ▼                             │
    /// manifest ◄───────────── retried ─┤
    ///    │ └─ postponed ───────────► backoff ◄─ postponed ─┐
    ///    │ manifestStored              │                   │
    ///    ▼                             │                   │
    /// ready ◄──────────────── retried ─┘                   │
    ///    │ ▲                                               │
    ///    │ └─ returned ─┐                                  │
    ///    ▼ granted      │                                  │
    /// leased ───────────┴──────────────────────────────────┤
    ///    │ merged                                          │
    ///    ▼                                                 │
    /// publishing ──────────────────────────────────────────┘
    ///    │ published
    ///    ▼
    /// published, unchanged
    /// ```
    ///
    /// - `retried` leads to `ready` with a manifest; without one to `waiting` while batches are open, else to
    ///   `manifest`.
    /// - `foundInCatalog` leads from `manifest` to `publishing`.
    /// - `batchesReopened` leads from `manifest`, `ready`, `leased` and `backoff` to `waiting`.
    /// - `failed` leads from `manifest`, `leased` and `publishing` to `failed`; `jobEnded` leads there from every state
    ///   that is not published.
    /// - `published` leads from `failed` to `published` when the job ended while the package was being published.
    /// - `rewound` leads from every state to `waiting`.
    ///
    /// - Returns: Whether the transition is legal in this state. An illegal one changes nothing. It is an error of the
    ///   caller, which ``Scheduler/audit()`` reports.
    mutating func apply(_ transition: PackageTransition) -> Bool {
        guard let next = state(after: transition) else { return false }
        switch transition {
        case .batchesEnded, .retried: break
        case .manifestStored(let digest): manifest = digest
        case .foundInCatalog(let package, let digest):
            manifest = digest
            merged = package
            token = nil
        case .granted(let lease, let session):
            token = lease
            owner = session
        case .merged(let package):
            owner = 0
            merged = package
            trouble = nil
        case .published(let number, let file, _):
            version = number
            path = file
            trouble = nil
        case .batchesReopened:
            owner = 0
            manifest = nil
        case .returned, .postponed, .failed: owner = 0
        case .jobEnded(let reason):
            owner = 0
            trouble = trouble ?? reason
        case .rewound:
            let before = self
            self = Package(id: id, tiles: tiles)
            version = before.version
            path = before.path
        }
        state = next
        return true
    }

    /// The state after a transition, or `nil` when it is illegal in this state.
    private func state(after transition: PackageTransition) -> PackageState? {
        switch transition {
        case .batchesEnded: state == .waiting ? .manifest : nil
        case .batchesReopened: [.manifest, .ready, .leased, .backoff].contains(state) ? .waiting : nil
        case .manifestStored: state == .manifest ? .ready : nil
        case .foundInCatalog: state == .manifest ? .publishing : nil
        case .granted: state == .ready ? .leased : nil
        case .returned: state == .leased ? .ready : nil
        case .merged: state == .leased ? .publishing : nil
        case .postponed: [.manifest, .leased, .publishing].contains(state) ? .backoff : nil
        case .retried(let hasOpenBatches):
            state != .backoff ? nil : manifest != nil ? .ready : hasOpenBatches ? .waiting : .manifest
        case .published(_, _, let isUnchanged):
            state == .publishing || state == .failed && merged != nil ? (isUnchanged ? .unchanged : .published) : nil
        case .failed: [.manifest, .leased, .publishing].contains(state) ? .failed : nil
        case .jobEnded: state.isPublished ? nil : .failed
        case .rewound: .waiting
        }
    }
}
