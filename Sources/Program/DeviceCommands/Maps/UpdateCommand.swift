import ArgumentParser
internal import CommandSupport
import OfflineMaps
internal import TextFormats

/// `packhorse device update`.
struct DeviceUpdateCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Bring installed maps to the newest version.",
        discussion: """
            Each item stays in its group, language and format. A patch is downloaded if the catalog has one from the
            installed version that is smaller than 70 % of the whole file. The old map is readable until the new one is
            complete. With --together, all items change in one step, or none.
            Examples:
              packhorse device update --store ./maps --dry-run
              packhorse device update --store ./maps
              packhorse device update EE --together --store ./maps
            """)

    @OptionGroup var items: ItemArguments
    @Flag(help: "Change all items in one step, or none.") var together = false
    @Flag(help: "Show what would be downloaded; change nothing.") var dryRun = false
    @OptionGroup var store: StoreArguments
    @OptionGroup var catalog: CatalogArguments
    @OptionGroup var wait: WaitArguments

    func work() async throws {
        let store = try await DeviceStore.openExisting(store, catalog)
        let held = try await store.installed()
        let named = items.isEmpty ? held.map(\.item) : try items.items(among: held)
        _ = try await DeviceStore.freshCatalog(of: store, catalog, isKept: !dryRun)
        let changes = try await ItemChange.all(of: named, in: store)
        if dryRun { return try show(changes) }
        guard !changes.isEmpty else {
            if wait.progress.json { return Console.result(try JSONText.pretty([TaskView]())) }
            return Console.note("everything is up to date")
        }
        try await wait.run(store) { try await store.update(changes.map(\.item), together: together) }
    }

    private func show(_ changes: [ItemChange]) throws {
        if wait.progress.json { return Console.result(try JSONText.pretty(changes)) }
        var table = Table("item", "from", "to", "download", "how")
        for change in changes {
            table.add(
                change.item.words, change.from.map { "\($0)" } ?? "-", change.to.map { "\($0)" } ?? "-",
                Units.bytes(change.bytes), change.how)
        }
        table.lines.forEach(Console.result)
        Console.note("\(Units.bytes(changes.reduce(0) { $0 + $1.bytes })) to download; nothing was changed")
    }
}

/// What an update of one item would change.
struct ItemChange: Encodable, Sendable {
    let item: Item
    /// The installed version; `nil` for tile packs and a region.
    let from: Int32?
    /// The version of the catalog; `nil` for a region.
    let to: Int32?
    let bytes: UInt64
    let isPatch: Bool

    /// What is downloaded.
    var how: String {
        switch item {
        case .packs, .region: "tile packs"
        case .package, .style: isPatch ? "patch" : "whole file"
        }
    }

    /// The changes of items by the last catalog.
    ///
    /// Packages and styles are compared with the catalog. What is new of tile packs is in lists, which are downloaded. A
    /// message names the items that the catalog does not have; they stay as they are.
    static func all(of named: [Item], in store: MapStore) async throws -> [ItemChange] {
        var changes = try await store.updates().changes.filter { named.contains($0.item) }.map { change in
            ItemChange(
                item: change.item, from: change.from, to: change.to, bytes: change.bytes, isPatch: change.isPatch)
        }
        var strangers: [String] = []
        for held in try await store.installed() where named.contains(held.item) {
            switch held.item {
            case .region(let id):
                guard try await store.region(id)?.definition.hasTilesets == true else { continue }
            case .packs where held.isInCatalog: break
            case .package, .packs, .style:
                if !held.isInCatalog { strangers.append(held.item.words) }
                continue
            }
            let bytes = try await store.estimate([held.item]).transfer
            guard bytes > 0 else { continue }
            let offered = try await store.status(of: held.item)?.offered?.version
            changes.append(ItemChange(item: held.item, from: nil, to: offered, bytes: bytes, isPatch: false))
        }
        if !strangers.isEmpty {
            Console.note("not in the catalog, and left as it is: \(strangers.joined(separator: ", "))")
        }
        return changes
    }
}

extension RegionDefinition {
    /// Whether it takes tiles of the catalog.
    fileprivate var hasTilesets: Bool {
        sources.contains { if case .tileset = $0 { true } else { false } }
    }
}
