internal import Errors

/// Tells a coordinator whether it is still the one that a place belongs to.
///
/// Each run announces its epoch in the place. A run that finds a higher one has been replaced by a coordinator that was restored from a backup, and
/// must change nothing that both share. Nothing here excludes two writers at the same instant: what the predecessor did
/// before the successor announced itself does no harm.
public actor PlaceGuard {
    private let place: any BackupPlace
    private let own: PlaceClaim
    private var isAnnounced = false
    private var confirmedAt: ContinuousClock.Instant?
    private var announcedAt: ContinuousClock.Instant?
    /// Claims of coordinators that may still run on other state files.
    private var predecessors: [PlaceClaim] = []
    /// Whether a coordinator with another state file used the place before this one: it may still run.
    ///
    /// The run before on the same file has ended, and has the epoch before.
    public private(set) var hasPredecessor = false

    /// How long claims of predecessors stay: when this run ends early, the next one has to know of them.
    private static let memory = Duration.seconds(60)

    /// A guard for one run.
    public init(_ place: any BackupPlace, own: PlaceClaim) {
        self.place = place
        self.own = own
    }

    /// Makes sure that no other run has announced a higher epoch.
    ///
    /// Announces this run when that was not done before.
    ///
    /// - Parameter age: How long an earlier answer counts.
    /// - Throws: ``BackupError`` `replaced` or `other-state`; any other error leaves the question open.
    public func confirm(within age: Duration = .zero) async throws {
        if isAnnounced, let confirmedAt, ContinuousClock.now - confirmedAt < age { return }
        let start = ContinuousClock.now
        let claims = try await claims()
        if isAnnounced { try Self.check(claims, own: own, place.name) } else { try await announce(claims) }
        isAnnounced = true
        confirmedAt = start
        guard !predecessors.isEmpty, let announcedAt, ContinuousClock.now - announcedAt > Self.memory else { return }
        // One that stays is removed by the next run.
        for claim in predecessors { try? await place.remove(claim.description, .claims) }
        predecessors = []
    }

    private func claims() async throws -> [PlaceClaim] {
        try await place.names(of: .claims).compactMap { PlaceClaim($0) }
    }

    private func announce(_ earlier: [PlaceClaim]) async throws {
        if let newest = try await place.names(of: .index).compactMap({ BackupName($0) }).max() {
            try Self.check(earlier, own: own, place.name)
            // Backups may have come without a claim: their folder was copied.
            guard newest.epoch <= own.epoch else { throw Self.replaced(by: newest.epoch, own, place.name) }
            let isKnown = earlier.contains { $0.lineage == own.lineage }
            hasPredecessor = hasPredecessor || newest.epoch < own.epoch &- 1 && !isKnown
        } else {
            // A run that ended before its first backup left nothing that could be restored.
            for claim in earlier where claim.lineage != own.lineage {
                try await place.remove(claim.description, .claims)
            }
        }
        try await place.write(Array("\(own)\n".utf8), to: own.description, of: .claims)
        // Another run may have announced itself at the same time.
        try Self.check(try await claims(), own: own, place.name)
        announcedAt = .now
        for claim in earlier where claim < own && claim.lineage == own.lineage {
            if claim.epoch == own.epoch &- 1 {
                try await place.remove(claim.description, .claims)
            } else {
                predecessors.append(claim)
            }
        }
        hasPredecessor = hasPredecessor || !predecessors.isEmpty
    }

    /// Refuses a run that is not the highest of a place.
    static func check(_ claims: [PlaceClaim], own: PlaceClaim, _ place: String) throws(BackupError) {
        if let other = claims.first(where: { $0.lineage != own.lineage }) {
            throw BackupError(
                .foreign,
                "The backups in '\(place)' are of another state than the one of this coordinator (their epoch is \(other.epoch)).",
                hint:
                    "restore that state (coordinator --restore-from '\(place)' with an empty --data), or give --backup-to another place"
            )
        }
        if let higher = claims.max(), higher > own { throw replaced(by: higher.epoch, own, place) }
    }

    private static func replaced(by epoch: UInt32, _ own: PlaceClaim, _ place: String) -> BackupError {
        BackupError(
            .replaced,
            "A coordinator with the higher epoch \(epoch) was restored from '\(place)'; this one has epoch \(own.epoch) and changes nothing more.",
            hint: "end this one; to go on with its state instead, give it another place with --backup-to")
    }
}
