internal import Synchronization

/// What the store gives without waiting: its readers, what was viewed, its events and its role.
final class StoreShared: Sendable {
    let folder: StoreFolder
    let tiles: TileReader
    let resources: ResourceResolver
    /// What is viewed: the ambient cache and the network.
    let web: WebResources
    let events = EventHub()
    private let currentRole = Mutex(Role.reader)
    private let damaged: DamageReports

    /// Makes readers without files; the worker gives them the files of the rows.
    init(_ folder: StoreFolder, _ options: StoreOptions, fetcher: any Fetcher) throws(StoreError) {
        let damaged = DamageReports()
        self.folder = folder
        self.damaged = damaged
        tiles = TileReader(folder, []) { installed, _ in damaged.send(installed) }
        web = WebResources(
            AmbientCache(folder, limit: options.quota.ambientBytes), NetworkPermission(rule: options.networkRule),
            fetcher: fetcher, transform: options.transform)
        resources = try ResourceResolver(folder, [], tiles: tiles, web: web)
    }

    var role: Role { currentRole.withLock { $0 } }

    func setRole(_ role: Role) { currentRole.withLock { $0 = role } }

    /// Gets the files that cannot be read, one after the other.
    func onDamage(_ handle: @escaping @Sendable (InstalledFile) async -> Void) { damaged.set(handle) }

    /// Returns when what was reported until now is handled.
    func settleDamage() async { await damaged.last?.value }
}

/// Passes on which files cannot be read.
private final class DamageReports: Sendable {
    private struct State {
        var handle: (@Sendable (InstalledFile) async -> Void)?
        var last: Task<Void, Never>?
    }
    private let state = Mutex(State())

    /// The handling of the newest report.
    var last: Task<Void, Never>? { state.withLock { $0.last } }

    func set(_ new: @escaping @Sendable (InstalledFile) async -> Void) { state.withLock { $0.handle = new } }

    func send(_ installed: InstalledFile) {
        state.withLock { state in
            guard let handle = state.handle else { return }
            state.last = Task { [before = state.last] in
                await before?.value
                await handle(installed)
            }
        }
    }
}
