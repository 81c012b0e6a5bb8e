/// Rules that are wrong on purpose; the tests inject them, and the simulation must catch each of them.
struct WrongRules: OptionSet, Sendable {
    let rawValue: UInt32

    /// Effects do not wait for the write that records their reason.
    static let hastyEffects = WrongRules(rawValue: 1 << 0)
    /// A download begins at 0 although a part file is there.
    static let forgetsPart = WrongRules(rawValue: 1 << 1)
    /// A task of a priority below 0 goes on.
    static let ignoresPause = WrongRules(rawValue: 1 << 2)
    /// Downloads begin without a network.
    static let ignoresNetwork = WrongRules(rawValue: 1 << 3)
    /// The quota is not checked.
    static let ignoresQuota = WrongRules(rawValue: 1 << 4)
    /// The old file is removed before the new one is current.
    static let removesFirst = WrongRules(rawValue: 1 << 5)
    /// A file becomes current without a check of its digest.
    static let trustsBytes = WrongRules(rawValue: 1 << 6)
    /// A shared pack is removed with its first holder.
    static let ignoresHolders = WrongRules(rawValue: 1 << 7)
    /// A list with a smaller sequence is accepted.
    static let acceptsOlder = WrongRules(rawValue: 1 << 8)
    /// Progress is the state of the moment, also after a start over.
    static let progressFalls = WrongRules(rawValue: 1 << 9)
    /// Files of a task that belong together become current one by one.
    static let swapsOneByOne = WrongRules(rawValue: 1 << 10)
    /// A patch that fails is tried again without end.
    static let insistsOnPatch = WrongRules(rawValue: 1 << 11)
    /// A waiting time is not ended by anything.
    static let forgetsAlarm = WrongRules(rawValue: 1 << 12)
    /// Cancelling leaves the download running.
    static let cancelsLate = WrongRules(rawValue: 1 << 13)
    /// The limit of tile packs is not checked.
    static let ignoresPackLimit = WrongRules(rawValue: 1 << 14)
    /// A cancelled task leaves its part file.
    static let leavesParts = WrongRules(rawValue: 1 << 15)
    /// Retry-After is not followed.
    static let ignoresRetryAfter = WrongRules(rawValue: 1 << 16)
    /// Packs of no region take the space of regions.
    static let cacheTakesAll = WrongRules(rawValue: 1 << 17)
    /// Eviction removes packs that a region holds.
    static let evictsHeld = WrongRules(rawValue: 1 << 18)
}
