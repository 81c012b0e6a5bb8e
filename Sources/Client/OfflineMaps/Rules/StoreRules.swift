/// Decisions of ``StoreMachine`` that are one expression each, in one place.
///
/// The values are the rules of the store. They are closures so that the tests can replace one and prove that the
/// simulation finds the difference.
struct StoreRules: Sendable {
    /// Whether the user has paused a task.
    var isPaused: @Sendable (TaskRecord) -> Bool = { $0.rule.priority < 0 }
    /// Whether requests can be sent at all.
    var hasNetwork: @Sendable (_ network: NetworkState, _ isForcedOffline: Bool) -> Bool = { $0 != .none && !$1 }
    /// The bytes that the store may have with one more file; `nil` is no limit.
    ///
    /// Packs of no region are a cache: they never take what regions and packages could use.
    var allowedBytes: @Sendable (_ quota: Quota, _ isCache: Bool) -> UInt64? = { quota, isCache in
        quota.bytes.map { isCache ? min($0, quota.evictionStart ?? $0) : $0 }
    }
    /// Whether so many packs may be held.
    var allowsPacks: @Sendable (_ packs: Int, _ quota: Quota) -> Bool = { $0 <= $1.tilePacks }
    /// Whether a file has to stay.
    var isNeeded: @Sendable (_ key: InstalledFileKey, _ held: Set<InstalledFileKey>) -> Bool = { $1.contains($0) }
    /// Whether a list may replace the one that is there; `largest` is the largest known sequence.
    var acceptsList: @Sendable (_ sequence: UInt64, _ largest: UInt64, _ allowOlder: Bool) -> Bool = { $0 >= $1 || $2 }
    /// What is reported as progress, after an earlier report.
    var progress: @Sendable (_ new: TaskProgress, _ old: TaskProgress) -> TaskProgress = { $0.raised(to: $1) }
    /// Whether all files of a task become current in one transaction.
    var swapsTogether: @Sendable (TaskRecord) -> Bool = { $0.together }
    /// Whether a pack of one list takes the place of another's; `isShared`: whether another download also uses that pack.
    var replacesPack: @Sendable (_ new: PackAge, _ old: PackAge, _ isShared: () -> Bool) -> Bool = {
        $0.replaces($1, isShared: $2())
    }
    /// Whether a patch is used that has failed so many times.
    var usesPatch: @Sendable (_ failures: Int) -> Bool = { $0 == 0 }
    /// Whether a plan counts on a file that was being removed while it was made; it is then made again.
    var isOutdated: @Sendable (_ plan: Plan, _ removed: Set<Trash>) -> Bool = { plan, removed in
        plan.downloads.contains { download in
            download.source == .filled && removed.contains { download.file.isFilled(from: $0) }
        }
    }
    /// How many versions of a file are kept besides the current one.
    var keptVersions: @Sendable (_ key: InstalledFileKey, _ quota: Quota) -> Int = { key, quota in
        key.isPack ? 0 : max(0, min(2, quota.previousVersions))
    }
    /// How long a server is left alone that asks for some time, in milliseconds: from a second to an hour.
    var serverWait: @Sendable (_ asked: Int64) -> Int64 = { max(1_000, min($0, 3_600_000)) }
}

extension FileID {
    /// Whether a pack that is filled as this file can have counted on the tiles of a file.
    fileprivate func isFilled(from what: Trash) -> Bool {
        switch what {
        case .part(let digest): digest == self.digest
        case .file(let file): file.key == key
        }
    }
}
