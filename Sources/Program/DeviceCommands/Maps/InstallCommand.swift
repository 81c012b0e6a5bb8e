import ArgumentParser
internal import CommandSupport
import Errors
import OfflineMaps
internal import TextFormats

/// `packhorse device install`.
struct DeviceInstallCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Install packages, tile packs and styles of a catalog.",
        discussion: """
            Downloads continue where they were interrupted, are verified by SHA-256, and become readable in one step.
            With --public-key only data that the key's holder has signed is accepted. A catalog that is older than the
            last one is refused. --tile-packs installs the packs of regions instead of whole packages: shared packs are
            stored once. What is installed already is brought to the newest version.
            Examples:
              packhorse device install EE --catalog https://maps.example.com/offline/ --store ./maps
              packhorse device install EE LV --group terrain --language de --store ./maps --dry-run
              packhorse device install EE LV --tile-packs --style streets --store ./maps
              packhorse device install EE --with routing --store ./maps
              packhorse device install EE --catalog ./data/catalog --public-key keys/catalog.pub --store ./maps
            """)

    @OptionGroup var items: ItemArguments
    @OptionGroup var companions: CompanionArguments
    @OptionGroup var store: StoreArguments
    @OptionGroup var catalog: CatalogArguments
    @Option(help: "The priority of the tasks; higher is first.") var priority: Int32 = 0
    @Option(help: ArgumentHelp("The highest rate of the download, for example 500kB.", valueName: "bytes/s"))
    var rate: String?
    @Flag(help: "Show what would be downloaded; change nothing.") var dryRun = false
    @OptionGroup var wait: WaitArguments

    func validate() throws {
        guard !items.isEmpty else { throw ValidationError("Give package ids to install, or --style ID.") }
        guard priority >= 0 else { throw ValidationError("--priority must be at least 0.") }
        guard rate == nil || rate.flatMap(Units.size) != nil else {
            throw ValidationError("--rate must be a size, for example 500kB.")
        }
    }

    func work() async throws {
        _ = try store.folder
        if companions.onlyGivesUp { return try await giveUp() }
        if dryRun {
            let (wanted, estimate) = try await DeviceStore.openReadOnly(store, catalog) { store in
                let content = try await DeviceStore.freshCatalog(of: store, catalog)
                let wanted = try items.items(in: content)
                try companions.check(wanted, in: content)
                return (wanted, try await store.estimate(wanted, withCompanions: companions.choice))
            }
            return try ItemsEstimate(items: wanted, estimate: estimate).print(json: wait.progress.json)
        }
        let (store, wanted) = try await DeviceStore.openOrCreate(store, catalog) { store in
            let content = try await DeviceStore.freshCatalog(of: store, catalog, isKept: true)
            let wanted = try items.items(in: content)
            try companions.check(wanted, in: content)
            try await Self.checkForms(wanted, in: store)
            return wanted
        }
        var rule = TaskRule()
        rule.priority = priority
        rule.bytesPerSecond = rate.flatMap(Units.size)
        rule.failsWithoutNetwork = !wait.queue
        let choice = companions.choice
        try await wait.run(store) { [rule] in try await store.install(wanted, with: choice, rule) }
    }

    /// Removes companions of installed packages, in whichever format they are.
    private func giveUp() async throws {
        let store = try await DeviceStore.openExisting(store, catalog)
        let maps = try items.items(among: try await store.items()).filter { item in
            if case .package(_, let edition, _) = item { edition.group == nil } else { false }
        }
        guard !maps.isEmpty else { throw CLIError(.usage, "--without needs a whole package of the base map") }
        try companions.checkGivenUp(maps, try await store.installed())
        guard !dryRun else {
            throw CLIError(
                .usage, "--without downloads nothing: see what is installed with packhorse device list --installed")
        }
        let choice = companions.choice
        try await wait.run(store) { try await store.install(maps, with: choice) }
    }

    /// Refuses, before a task is made, what the catalog has in another form only.
    private static func checkForms(_ wanted: [Item], in store: MapStore) async throws {
        for item in wanted {
            do throws(StoreError) { _ = try await store.estimate([item]) } catch  where error.code == .notInCatalog {
                throw CLIError(
                    .noInput, item.isMissing, hint: "without --format and --tile-packs it is an MBTiles file")
            } catch {
                // The task itself finds out, and says why.
                continue
            }
        }
    }
}
