@testable import OfflineMaps

/// Something that is wrong on purpose: a rule of the machine, or the shell of a world.
///
/// The simulation must catch each.
struct WrongRule: Sendable {
    /// What the shell of a world does wrongly.
    enum Shell: Sendable {
        /// A write is acknowledged before it is on the disk.
        case hastyWrites
        /// A download begins at 0 although a part file is there.
        case forgetsPart
        /// The old file is removed before the new one is current.
        case removesFirst
        /// A part file is not checked.
        case trustsBytes
        /// A waiting time never ends by itself.
        case forgetsAlarm
        /// A request is not stopped.
        case ignoresStop
        /// A part file is not removed.
        case leavesParts
        /// A file to adopt is said to be there, and is not.
        case adoptsNothing
    }

    var name: String
    var shell: Shell?
    var rules = StoreRules()

    private init(_ name: String, shell: Shell) { (self.name, self.shell) = (name, shell) }

    private init(_ name: String, _ change: (inout StoreRules) -> Void) {
        self.name = name
        change(&rules)
    }

    static let all: [WrongRule] = [
        WrongRule("hasty writes", shell: .hastyWrites), WrongRule("forgets parts", shell: .forgetsPart),
        WrongRule("removes the old file first", shell: .removesFirst),
        WrongRule("does not verify", shell: .trustsBytes), WrongRule("forgets the alarm", shell: .forgetsAlarm),
        WrongRule("ignores stop", shell: .ignoresStop), WrongRule("leaves parts", shell: .leavesParts),
        WrongRule("adopts nothing", shell: .adoptsNothing),
        WrongRule("ignores the user's pause") { $0.isPaused = { _ in false } },
        WrongRule("ignores the network") { $0.hasNetwork = { _, _ in true } },
        WrongRule("ignores the quota") { $0.allowedBytes = { _, _ in nil } },
        WrongRule("lets the cache take all") { $0.allowedBytes = { quota, _ in quota.bytes } },
        WrongRule("ignores the limit of packs") { $0.allowsPacks = { _, _ in true } },
        WrongRule("removes what is held") { $0.isNeeded = { _, _ in false } },
        WrongRule("keeps what nobody holds") { $0.isNeeded = { _, _ in true } },
        WrongRule("accepts an older list") { $0.acceptsList = { _, _, _ in true } },
        WrongRule("reports progress that falls") { $0.progress = { new, _ in new } },
        WrongRule("swaps one by one") { $0.swapsTogether = { _ in false } },
        WrongRule("insists on patches") { $0.usesPatch = { _ in true } },
        WrongRule("ignores Retry-After") { $0.serverWait = { _ in 0 } },
        WrongRule("plans with files that go") { $0.isOutdated = { _, _ in false } },
        WrongRule("lets any list replace a pack") { $0.replacesPack = { _, _, _ in true } },
        WrongRule("keeps every version") { $0.keptVersions = { _, _ in .max } },
        WrongRule("keeps no version") { $0.keptVersions = { _, _ in 0 } },
    ]
}
