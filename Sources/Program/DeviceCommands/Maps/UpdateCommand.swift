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
        let store = try await DeviceStore.existing(store, catalog)
        let named = items.isEmpty ? nil : try items.items(among: try await store.installed())
        _ = try await DeviceStore.freshCatalog(of: store, catalog)
        var offer = try await store.updates()
        if let named { offer.changes.removeAll { !named.contains($0.item) } }
        if dryRun { return try show(offer) }
        guard !offer.changes.isEmpty else {
            if wait.progress.json { return Console.result(try JSONText.pretty([TaskView]())) }
            return Console.note("everything is up to date")
        }
        try await wait.run(store) { try await store.update(named, together: together) }
    }

    private func show(_ offer: UpdateOffer) throws {
        let views = offer.changes.map(ChangeView.init)
        if wait.progress.json { return Console.result(try JSONText.pretty(views)) }
        var table = Table("item", "from", "to", "download", "how")
        for (view, change) in zip(views, offer.changes) {
            table.add(
                change.item.words, "\(view.from)", "\(view.to)", Units.bytes(view.bytes),
                view.isPatch ? "patch" : "whole file")
        }
        table.lines.forEach(Console.result)
        Console.note("\(Units.bytes(views.reduce(0) { $0 + $1.bytes })) to download; nothing was changed")
    }
}

/// The update of an item as printed.
struct ChangeView: Encodable {
    let item: ItemView
    let from: Int32
    let to: Int32
    let bytes: UInt64
    let isPatch: Bool

    init(_ change: UpdateOffer.Change) {
        item = ItemView(change.item)
        (from, to, bytes, isPatch) = (change.from, change.to, change.bytes, change.isPatch)
    }
}
