import ArgumentParser
internal import CommandSupport
import Foundation
import OfflineMaps
internal import TextFormats

/// `packhorse device list`.
struct DeviceListCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the packages of the catalog, and what is installed.",
        discussion: """
            Reads the catalog again from its server; --installed lists the store and needs no network.
            Without --store, it lists the catalog alone.
            Examples:
              packhorse device list --catalog https://maps.example.com/offline/
              packhorse device list --installed --store ./maps
            """)

    @OptionGroup var store: StoreArguments
    @OptionGroup var catalog: CatalogArguments
    @Flag(help: "List only what is installed.") var installed = false
    @Option(help: "The language of names in the list: de.") var names = "en"
    @Flag(help: "Print the result as JSON.") var json = false

    func work() async throws {
        if installed { return try await listInstalled() }
        let (content, held) = try await DeviceStore.openReadOnly(store, catalog) { store in
            (try await DeviceStore.freshCatalog(of: store, catalog), try await store.installed())
        }
        let rows = content.packages.map { PackageView($0, held, language: names) }
        let styles = content.styles.map { StyleView($0, held) }
        let companions = content.companions.map { CompanionView($0, held) }
        if json {
            return Console.result(
                try JSONText.pretty(CatalogView(packages: rows, styles: styles, companions: companions)))
        }
        var table = Table("id", "group", "language", "version", "installed", "data", "size", "name")
        for row in rows { row.add(to: &table) }
        table.lines.forEach(Console.result)
        for style in styles {
            Console.result(
                "style \(style.id)  version \(style.version)  \(Units.bytes(style.size))  \(style.name ?? "-")"
                    + (style.installed.map { "  installed \($0)" } ?? ""))
        }
        companions.map(\.line).forEach(Console.result)
    }

    private func listInstalled() async throws {
        let store = try await DeviceStore.openExisting(store)
        let held = try await store.installed()
        try await DeviceProblems.warnOfFaults(try await store.items(), in: store)
        if json { return Console.result(try JSONText.pretty(held)) }
        var table = Table("item", "version", "size", "frees", "data", "previous")
        for one in held {
            table.add(
                one.item.words, one.item.hasVersion ? "\(one.version)" : "-", Units.bytes(one.bytes),
                Units.bytes(one.ownBytes), one.dataDate ?? "-",
                one.previous.isEmpty ? "-" : one.previous.map(String.init).joined(separator: ", "))
        }
        table.lines.forEach(Console.result)
        for one in held {
            for companion in one.companions {
                Console.result(
                    "\(companion.kind) of \(one.item.identifier)  version \(companion.version)  \(Units.bytes(companion.bytes))  \(companion.file.path)"
                )
            }
        }
    }
}

/// The catalog as printed.
struct CatalogView: Encodable {
    let packages: [PackageView]
    let styles: [StyleView]
    let companions: [CompanionView]
}

/// A package of the catalog as printed.
struct PackageView: Encodable {
    let id: String
    let group: String?
    let language: String?
    let version: Int32
    /// The installed version; the lowest one if several formats are installed.
    let installed: Int32?
    /// Whether its tile packs are installed.
    let hasPacks: Bool
    let dataDate: String?
    let size: UInt64
    let name: String

    init(_ package: PackageInfo, _ held: [Installed], language shown: String) {
        (id, version, size, dataDate) = (package.id, package.version, package.size, package.dataDate)
        (group, language) = (package.edition.group, package.edition.language)
        name = package.names(shown).joined(separator: "/")
        let items = held.filter { $0.item.isOf(package) }
        installed = items.filter { $0.item.hasVersion }.map(\.version).min()
        hasPacks = items.contains { !$0.item.hasVersion }
    }

    /// Adds the row of the package: id, group, language, version, installed, data, size, name.
    func add(to table: inout Table) {
        table.add(
            id, group ?? "-", language ?? "-", "\(version)", installed.map { "\($0)" } ?? (hasPacks ? "packs" : "-"),
            dataDate ?? "-",
            Units.bytes(size), name.isEmpty ? "-" : name)
    }
}

extension Item {
    /// Whether it is the package or its tile packs.
    fileprivate func isOf(_ package: PackageInfo) -> Bool {
        switch self {
        case .package(let id, let edition, _), .packs(let id, let edition):
            id == package.id && edition == package.edition
        case .region, .style: false
        }
    }
}

/// A style of the catalog as printed.
struct StyleView: Encodable {
    let id: String
    let name: String?
    let version: Int32
    let installed: Int32?
    let size: UInt64

    init(_ style: StyleInfo, _ held: [Installed]) {
        (id, name, version, size) = (style.id, style.name, style.version, style.size)
        installed = held.first { $0.item == .style(style.id) }?.version
    }
}
