import ArgumentParser
internal import CatalogFormat
internal import CommandSupport
import Errors
import OfflineMaps
internal import TextFormats

/// Files that are installed with packages.
struct CompanionArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Also what the catalog has of this kind for each package, for example routing; may be repeated.",
            valueName: "kind"))
    var with: [String] = []
    @Option(
        help: ArgumentHelp("Remove what each package has of this kind; may be repeated.", valueName: "kind"))
    var without: [String] = []

    func validate() throws {
        for kind in with + without where !CatalogCompanion.isKind(kind) {
            throw ValidationError(
                "'\(kind)' is no kind: write words between dots, for example routing or routing.valhalla.")
        }
        if let both = with.first(where: { wish in
            without.contains { CatalogCompanion.kind(wish, isOf: $0) || CatalogCompanion.kind($0, isOf: wish) }
        }) {
            throw ValidationError("'\(both)' is given with --with and --without.")
        }
    }

    /// The choice for the store.
    var choice: CompanionChoice { CompanionChoice(with: Set(with), without: Set(without)) }

    /// Whether packages get nothing and give something up.
    var onlyGivesUp: Bool { with.isEmpty && !without.isEmpty }

    /// Refuses kinds of --without that none of the packages has.
    ///
    /// - Throws: ``CLIError`` 65.
    func checkGivenUp(_ maps: [Item], _ installed: [Installed]) throws {
        let ids = Set(maps.map(\.identifier))
        let known = Set(
            installed.flatMap(\.current).filter { ids.contains($0.item.identifier) }.compactMap(\.item.companionKind))
        guard let absent = without.first(where: { wish in !known.contains { CatalogCompanion.kind($0, isOf: wish) } })
        else { return }
        throw CLIError(
            .badData, "no companion '\(absent)' of \(ids.sorted().joined(separator: ", ")) is installed",
            hint: known.isEmpty ? "none is installed" : "installed: \(known.sorted().joined(separator: ", "))")
    }

    /// Refuses items without companions, and kinds that the catalog does not have for a package.
    func check(_ items: [Item], in catalog: MapCatalog) throws {
        guard !choice.isEmpty else { return }
        let maps = items.filter { item in
            if case .package(_, let edition, _) = item { edition.group == nil } else { false }
        }
        guard !maps.isEmpty else {
            throw CLIError(.usage, "--with and --without need a whole package of the base map")
        }
        for id in maps.map(\.identifier) {
            let known = Set(catalog.companions.filter { $0.id == id }.map(\.kind)).sorted()
            for wish in with where !known.contains(where: { CatalogCompanion.kind($0, isOf: wish) }) {
                throw CLIError(
                    .noInput, "the catalog has no companion '\(wish)' for '\(id)'",
                    hint: known.isEmpty
                        ? "it has none; list what it has: packhorse device list"
                        : "it has \(known.joined(separator: ", "))")
            }
        }
    }
}

/// A companion of the catalog as printed.
struct CompanionView: Encodable {
    let id: String
    let kind: String
    let engine: String?
    let version: Int32
    /// The installed version.
    let installed: Int32?
    let dataDate: String?
    let size: UInt64

    init(_ companion: CompanionInfo, _ held: [Installed]) {
        (id, kind, engine) = (companion.id, companion.kind, companion.engine)
        (version, dataDate, size) = (companion.version, companion.dataDate, companion.size)
        let files = held.flatMap(\.current)
        installed =
            files.first {
                $0.item.companionKind == companion.kind && $0.item.identifier == companion.id
                    && $0.item.edition == companion.edition
            }?.version
    }

    /// The row of the list.
    var line: String {
        "\(kind) of \(id)  version \(version)  \(Units.bytes(size))" + (engine.map { "  for \($0)" } ?? "")
            + (installed.map { "  installed \($0)" } ?? "")
    }
}
