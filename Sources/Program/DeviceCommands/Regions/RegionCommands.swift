import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import OfflineMaps
internal import TextFormats
import Tiles

/// `packhorse device region`.
struct DeviceRegionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "region", abstract: "Regions of the user's own: a box, a shape or places.",
        discussion: """
            A region of tilesets consists of whole tile packs, which regions share.
            Example: packhorse device region add trip --box 24.5,59.3,25.0,59.5 --tileset demo --store ./maps
            """,
        subcommands: [
            DeviceRegionAddCommand.self, DeviceRegionLoadCommand.self, DeviceRegionListCommand.self,
            DeviceRegionShowCommand.self, DeviceRegionRemoveCommand.self,
        ])
}

/// `packhorse device region add`.
struct DeviceRegionAddCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Register a region, and download it.",
        discussion: """
            Examples:
              packhorse device region add trip --box 24.5,59.3,25.0,59.5 --zoom 0-12 --tileset demo --store ./maps
              packhorse device region add trip --box 24.5,59.3,25.5,59.5 --zoom 0-12 --tileset demo --replace --store ./maps
              packhorse device region add huts --points huts.csv --radius 2km --zoom 8-14 --tiles "https://tiles.example.com/{z}/{x}/{y}.png" --store ./maps
            """)

    @Argument(help: "The name of the region.") var name: String
    @OptionGroup var region: RegionArguments
    @Flag(help: "Only register it; packhorse device region load downloads it.") var only = false
    @Flag(help: "Change a region of this name; what it then has no use for is removed when it is downloaded.")
    var replace = false
    @OptionGroup var store: StoreArguments
    @OptionGroup var catalog: CatalogArguments
    @OptionGroup var wait: WaitArguments

    func validate() throws {
        guard !region.isEmpty else {
            throw ValidationError("Give the area: --box, --of, --geojson or --points.")
        }
    }

    func work() async throws {
        let definition = try region.definition()
        let id = RegionID(name)
        let (store, _) = try await DeviceStore.openOrCreate(store, catalog) { store in
            if !replace, let known = try await store.region(id)?.definition, known != definition {
                throw CLIError(
                    .cannotCreate, "there is another region '\(name)'",
                    hint: "--replace changes it; packhorse device region show '\(name)' shows what it is")
            }
            if region.needsCatalog { _ = try await DeviceStore.freshCatalog(of: store, catalog) }
            try await DeviceStore.rememberCatalog(catalog, in: store)
            if !only { try await Self.checkTilesets(of: definition, in: store) }
            try await store.addRegion(id, definition)
        }
        guard !only else { return Console.note("registered the region '\(name)'; nothing was downloaded") }
        var rule = TaskRule()
        rule.failsWithoutNetwork = !wait.queue
        try await wait.run(store) { [rule] in [try await store.load(id, rule)] }
    }

    /// Refuses tilesets that the catalog does not have in the area, before the region is registered or changed.
    ///
    /// - Throws: `StoreError` `not-in-catalog`.
    private static func checkTilesets(of definition: RegionDefinition, in store: MapStore) async throws(StoreError) {
        var tilesets = definition
        tilesets.sources = definition.sources.filter { if case .tileset = $0 { true } else { false } }
        guard !tilesets.sources.isEmpty else { return }
        do throws(StoreError) { _ = try await store.estimate(tilesets) } catch {
            // Every other failure is one of the download, which can be repeated.
            if error.code == .notInCatalog { throw error }
        }
    }
}

/// `packhorse device region load`.
struct DeviceRegionLoadCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Download what a region lacks, or what has expired.",
        discussion: """
            --refresh asks the server about everything of the region, and downloads what has changed.
            Example: packhorse device region load trip --store ./maps
            """)

    @Argument(help: "The name of the region.") var name: String
    @Flag(help: "Ask the server about everything, also about what has not expired.") var refresh = false
    @OptionGroup var store: StoreArguments
    @OptionGroup var wait: WaitArguments

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let info = try await DeviceRegion.named(name, in: store)
        var rule = TaskRule()
        rule.failsWithoutNetwork = !wait.queue
        try await wait.run(store) { [rule] in
            [refresh ? try await store.refresh(info.id) : try await store.load(info.id, rule)]
        }
    }
}

/// `packhorse device region list`.
struct DeviceRegionListCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the regions of a store.",
        discussion: "Example: packhorse device region list --store ./maps")

    @OptionGroup var store: StoreArguments
    @Flag(help: "Print the result as JSON.") var json = false

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        var regions: [RegionInfo] = []
        for id in try await store.regions() { if let info = try await store.region(id) { regions.append(info) } }
        if json { return Console.result(try JSONText.pretty(regions)) }
        var table = Table("region", "state", "zooms", "tiles", "packs", "size", "missing", "failed")
        for info in regions {
            table.add(
                info.id.text, info.state.rawValue, "\(info.zooms.min)-\(info.zooms.max)", info.progress.tiles.words,
                info.progress.packs.words, Units.bytes(info.bytes), "\(info.missing.reduce(0) { $0 + $1.count })",
                "\(info.failed.reduce(0) { $0 + $1.count })")
        }
        table.lines.forEach(Console.result)
    }
}

/// `packhorse device region show`.
struct DeviceRegionShowCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what a region has, what is missing and what failed.",
        discussion: "Example: packhorse device region show trip --store ./maps")

    @Argument(help: "The name of the region.") var name: String
    @OptionGroup var store: StoreArguments
    @Flag(help: "Print the result as JSON.") var json = false

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let info = try await DeviceRegion.named(name, in: store)
        if json { return Console.result(try JSONText.pretty(info)) }
        Console.result("region     \(info.id.text)")
        Console.result("state      \(info.state.rawValue)")
        Console.result("zooms      \(info.zooms.min)-\(info.zooms.max)")
        Console.result("resources  \(info.progress.resources.words)")
        Console.result("tiles      \(info.progress.tiles.words)")
        Console.result("packs      \(info.progress.packs.words)")
        Console.result("size       \(Units.bytes(info.bytes))")
        for (status, count) in try await store.tileAnswers(of: info.id).sorted(by: { $0.key < $1.key })
        where status != 200 { Console.result("empty      \(Units.count(count, of: "tile")), answered with \(status)") }
        if let expires = info.expires { Console.result("expires    \(expires.ISO8601Format())") }
        for one in info.missing { Console.result("missing    \(one.count) x \(one.what)") }
        for one in info.failed { Console.result("failed     \(one.count) x \(one.what): \(one.cause?.words ?? "-")") }
    }
}

/// `packhorse device region remove`.
struct DeviceRegionRemoveCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a region, and what no other region or item needs.",
        discussion: "Example: packhorse device region remove trip --store ./maps")

    @Argument(help: "The name of the region.") var name: String
    @OptionGroup var store: StoreArguments
    @OptionGroup var wait: WaitArguments

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let info = try await DeviceRegion.named(name, in: store)
        try await wait.run(store) { try await store.remove([.region(info.id)]) }
    }
}

/// Finds regions, and says what is strange about them.
enum DeviceRegion {
    /// Warns of regions that were downloaded and have not a single tile, because the server has none of theirs.
    static func warnOfEmpty(_ tasks: [StoreTask], in store: MapStore) async throws {
        for task in tasks where task.state == .done && (task.kind == .load || task.kind == .refresh) {
            for case .region(let id) in task.items {
                let answers = try await store.tileAnswers(of: id)
                let all = answers.values.reduce(0, +)
                guard all > 0, answers[200] == nil else { continue }
                let words = answers.sorted { $0.key < $1.key }
                    .map { "\(Units.count($0.value, of: "tile")) answered with \($0.key)" }
                Console.warning(
                    "the region '\(id.text)' is empty: the server has none of its tiles (\(words.joined(separator: ", "))); "
                        + "check the template and the zooms")
            }
        }
    }

    /// A region by its name.
    ///
    /// - Throws: ``CLIError`` 66 when the store has none of this name.
    static func named(_ name: String, in store: MapStore) async throws -> RegionInfo {
        guard let info = try await store.region(RegionID(name)) else {
            throw CLIError(
                .noInput, "there is no region '\(name)'", hint: "list the regions: packhorse device region list")
        }
        return info
    }
}

extension Counts {
    /// `3 of 4`; `-` for none.
    fileprivate var words: String { required == 0 ? "-" : "\(completed) of \(required)" }
}
