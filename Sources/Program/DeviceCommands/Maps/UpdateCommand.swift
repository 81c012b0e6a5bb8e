import ArgumentParser
internal import CommandSupport
import OfflineMaps
internal import TextFormats

/// `packhorse device update`.
struct DeviceUpdateCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Bring installed maps to the newest version.",
        discussion: """
            Each item stays in its group, language and format. A patch is downloaded if the catalog has one of this format
            (MBTiles, PMTiles) from the installed version that is smaller than 70 % of the whole file. The old map is readable until the new one is
            complete. A map whose file is missing is downloaded again. With --together, all items change in one step, or none.
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
        let held = try await store.items()
        let named = items.isEmpty ? held : try items.items(among: held)
        // A newer list lets failed tasks begin again.
        let failedBefore = try await DeviceProblems.failedTasks(of: items.isEmpty ? nil : named, in: store)
        _ = try await DeviceStore.freshCatalog(of: store, catalog, isKept: !dryRun)
        let (changes, refused) = try await ItemChange.all(of: named, in: store)
        let changed = changes.map(\.item)
        let failed = failedBefore.filter { Set($0.items).isDisjoint(with: changed) }
        let isSound = try await DeviceProblems.warn(of: named.filter { !changed.contains($0) }, failed, in: store)
        if dryRun {
            try show(changes)
        } else if !changes.isEmpty {
            try await wait.run(store) { try await store.update(changed, together: together) }
        } else if wait.progress.json {
            Console.result(try JSONText.pretty([TaskView]()))
        } else if isSound, refused.isEmpty {
            Console.note("everything is up to date")
        }
        let open = Set(try await store.tasks().map(\.id))
        let left = failed.filter { open.contains($0.id) }.compactMap(\.problem)
        if let problem = refused.first ?? left.first { throw problem }
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
    /// Those of the bytes that are for companions; `nil` without them.
    let companionBytes: UInt64?
    let isPatch: Bool

    /// What is downloaded.
    var how: String {
        switch item {
        case .packs, .region: return "tile packs"
        case .package, .style:
            let own = isPatch ? "patch" : "whole file"
            guard let companionBytes else { return own }
            let companions = "companions of \(Units.bytes(companionBytes))"
            return companionBytes == bytes ? companions : "\(own), \(companions)"
        }
    }

    /// The changes of items by the last catalog.
    ///
    /// Packages and styles are compared with the catalog. What is new of tile packs is in lists, which are downloaded. A
    /// message names the items that the catalog does not have; they stay as they are. What has a missing file is a change.
    ///
    /// - Returns: The changes, and why items cannot be updated.
    static func all(of named: [Item], in store: MapStore) async throws -> ([ItemChange], refused: [CLIError]) {
        var changes = try await store.updates().changes.filter { named.contains($0.item) }.map { change in
            ItemChange(
                item: change.item, from: change.from, to: change.to, bytes: change.bytes,
                companionBytes: change.companionBytes > 0 ? change.companionBytes : nil, isPatch: change.isPatch)
        }
        var strangers: [String] = []
        var refused: [CLIError] = []
        let installed = try await store.installed()
        for item in named {
            let status = try await store.status(of: item)
            let isInCatalog = status?.offered != nil || installed.contains { $0.item == item && $0.isInCatalog }
            switch item {
            case .region(let id):
                guard let region = try await store.region(id)?.definition,
                    region.hasTilesets || status?.missingFiles.isEmpty == false
                else { continue }
            case .packs where isInCatalog: break
            case .package, .packs, .style:
                if !isInCatalog, status?.missingFiles.isEmpty != false { strangers.append(item.words) }
                continue
            }
            let bytes: UInt64
            do throws(StoreError) { bytes = try await store.estimate([item]).transfer } catch {
                let problem = CLIError(error)
                refused.append(
                    CLIError(
                        problem.status, "\(item.words) cannot be updated: \(problem.message)",
                        hint: problem.hint ?? "change it, or remove it: packhorse device --help"))
                if refused.count > 1 { Console.warning(refused[refused.count - 1].message) }
                continue
            }
            guard bytes > 0 else { continue }
            changes.append(
                ItemChange(
                    item: item, from: nil, to: status?.offered?.version, bytes: bytes, companionBytes: nil,
                    isPatch: false))
        }
        if !strangers.isEmpty {
            Console.note("not in the catalog, and left as it is: \(strangers.joined(separator: ", "))")
        }
        return (changes, refused)
    }
}

extension RegionDefinition {
    /// Whether it takes tiles of the catalog.
    fileprivate var hasTilesets: Bool {
        sources.contains { if case .tileset = $0 { true } else { false } }
    }
}
