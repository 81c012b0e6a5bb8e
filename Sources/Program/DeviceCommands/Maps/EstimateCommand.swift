import ArgumentParser
internal import CommandSupport
import Errors
import OfflineMaps
internal import TextFormats

/// `packhorse device estimate`.
struct DeviceEstimateCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "estimate", abstract: "Say what items or a region would take, before anything is downloaded.",
        discussion: """
            Bytes of catalog items are exact. Those of a region of single tiles are measured with a few of its tiles.
            Examples:
              packhorse device estimate EE LV --tile-packs --store ./maps
              packhorse device estimate --box 24.5,59.3,25.0,59.5 --zoom 0-12 --tileset demo --store ./maps
            """)

    @OptionGroup var items: ItemArguments
    @OptionGroup var companions: CompanionArguments
    @OptionGroup var region: RegionArguments
    @OptionGroup var store: StoreArguments
    @OptionGroup var catalog: CatalogArguments
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard items.isEmpty != region.isEmpty else {
            throw ValidationError("Give package ids or --style ID, or the area of a region.")
        }
    }

    func work() async throws {
        let definition = region.isEmpty ? nil : try region.definition()
        let view = try await DeviceStore.openReadOnly(store, catalog) { store in
            if let definition {
                if region.needsCatalog { _ = try await DeviceStore.freshCatalog(of: store, catalog) }
                return ItemsEstimate(items: [], estimate: try await store.estimate(definition))
            }
            let content = try await DeviceStore.freshCatalog(of: store, catalog)
            let wanted = try items.items(in: content)
            try companions.check(wanted, in: content)
            return ItemsEstimate(
                items: wanted, estimate: try await store.estimate(wanted, withCompanions: companions.choice))
        }
        try view.print(json: json)
    }
}

/// The estimate of some items, printed as one.
struct ItemsEstimate: Encodable {
    let items: [Item]
    let estimate: Estimate
    private enum CodingKeys: String, CodingKey { case items }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(items.map(\.words), forKey: .items)
        try estimate.encode(to: encoder)
    }

    /// Prints the estimate.
    func print(json: Bool) throws {
        if json { return Console.result(try JSONText.pretty(self)) }
        for item in items { Console.result(item.words) }
        let doubt = estimate.margin > 0 ? " (±\(Int((estimate.margin * 100).rounded(.up))) %)" : ""
        Console.result("to download  \(Units.bytes(estimate.transfer))\(doubt)")
        Console.result(
            "on disk      \(Units.bytes(estimate.storage)), at most \(Units.bytes(estimate.peak)) on the way")
        if estimate.packs > 0 { Console.result("tile packs   \(estimate.packs)") }
        if estimate.tiles > 0 { Console.result("single tiles \(estimate.tiles)") }
        if !estimate.fits { Console.warning("the disk or the quota of the store has less space") }
    }
}
