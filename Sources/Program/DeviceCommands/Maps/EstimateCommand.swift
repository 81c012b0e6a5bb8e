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
        let view = try await DeviceStore.looking(store, catalog) { store in
            if let definition {
                if region.needsCatalog { _ = try await DeviceStore.freshCatalog(of: store, catalog) }
                return EstimateView([], try await store.estimate(definition))
            }
            let wanted = try items.items(in: try await DeviceStore.freshCatalog(of: store, catalog))
            return EstimateView(wanted.map(\.words), try await store.estimate(wanted))
        }
        try view.print(json: json)
    }
}

/// An estimate as printed.
struct EstimateView: Encodable {
    let items: [String]
    /// Bytes over the network.
    let transfer: UInt64
    /// Bytes on disk at the end.
    let storage: UInt64
    /// The most bytes on disk on the way.
    let peak: UInt64
    /// The part by which `transfer` may be wrong.
    let margin: Double
    let tiles: UInt64
    let packs: Int
    let fits: Bool

    init(_ items: [String], _ estimate: Estimate) {
        self.items = items
        (transfer, storage, peak) = (estimate.transfer, estimate.storage, estimate.peak)
        (margin, tiles, packs, fits) = (estimate.margin, estimate.tiles, estimate.packs, estimate.fits)
    }

    /// Prints the estimate.
    func print(json: Bool) throws {
        if json { return Console.result(try JSONText.pretty(self)) }
        for item in items { Console.result(item) }
        let doubt = margin > 0 ? " (±\(Int((margin * 100).rounded(.up))) %)" : ""
        Console.result("to download  \(Units.bytes(transfer))\(doubt)")
        Console.result("on disk      \(Units.bytes(storage)), at most \(Units.bytes(peak)) on the way")
        if packs > 0 { Console.result("tile packs   \(packs)") }
        if tiles > 0 { Console.result("single tiles \(tiles)") }
        if !fits { Console.warning("the disk or the quota of the store has less space") }
    }
}
