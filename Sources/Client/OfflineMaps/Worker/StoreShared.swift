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

    /// Makes readers without units; the worker gives them the units of the rows.
    init(_ folder: StoreFolder, _ options: StoreOptions, fetcher: any Fetcher) throws(StoreError) {
        let damaged = DamageReports()
        self.folder = folder
        self.damaged = damaged
        tiles = TileReader(folder, []) { unit, _ in damaged.send(unit) }
        web = WebResources(
            AmbientCache(folder, limit: options.quota.ambientBytes), NetworkPermission(rule: options.networkRule),
            fetcher: fetcher, transform: options.transform)
        resources = try ResourceResolver(folder, [], tiles: tiles, web: web)
    }

    var role: Role { currentRole.withLock { $0 } }

    func setRole(_ role: Role) { currentRole.withLock { $0 = role } }

    /// Gets the units that cannot be read.
    func onDamage(_ handle: @escaping @Sendable (InstalledFile) -> Void) { damaged.set(handle) }
}

/// Passes on which units cannot be read.
private final class DamageReports: Sendable {
    private let handle = Mutex<(@Sendable (InstalledFile) -> Void)?>(nil)

    func set(_ new: @escaping @Sendable (InstalledFile) -> Void) { handle.withLock { $0 = new } }

    func send(_ unit: InstalledFile) { handle.withLock { $0 }?(unit) }
}
