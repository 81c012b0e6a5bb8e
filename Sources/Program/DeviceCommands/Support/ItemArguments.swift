import ArgumentParser
internal import CommandSupport
import Errors
import OfflineMaps
internal import TextFormats

/// Items of a catalog: packages, tile packs and styles.
struct ItemArguments: ParsableArguments {
    @Argument(help: "Package ids.") var ids: [String] = []
    @Option(help: ArgumentHelp("A data group besides the base map; may be repeated.", valueName: "group"))
    var group: [String] = []
    @Flag(help: "Only the groups, without the base map.") var onlyGroups = false
    @Option(help: "The language of names in the tiles, if the catalog has it: de.") var language: String?
    @Option(help: "The format of the files.") var format = "mbtiles"
    @Flag(help: "Tile packs, which regions share, instead of whole packages.") var tilePacks = false
    @Option(help: ArgumentHelp("A style pack; may be repeated.", valueName: "id")) var style: [String] = []

    func validate() throws {
        guard !tilePacks || format == "mbtiles" else {
            throw ValidationError("Tile packs have the format that their publisher chose; omit --format.")
        }
        guard !onlyGroups || !group.isEmpty else { throw ValidationError("--only-groups needs --group.") }
        for names in [ids, group, style] {
            var seen: Set<String> = []
            if let twice = names.first(where: { !seen.insert($0).inserted }) {
                throw ValidationError("'\(twice)' is given twice.")
            }
        }
    }

    /// Whether the command line names no item.
    var isEmpty: Bool { ids.isEmpty && style.isEmpty }

    /// The items of the catalog: the base map and the groups of each id, then the styles.
    ///
    /// A package that does not exist in the language is taken without a language, with a message.
    ///
    /// - Throws: ``CLIError`` 66 for a package or style that the catalog does not have.
    func items(in catalog: MapCatalog) throws -> [Item] {
        let groups: [String?] = (onlyGroups ? [] : [nil]) + group.map(Optional.some)
        var items: [Item] = []
        for id in ids {
            for group in groups {
                let edition = try edition(of: id, group, in: catalog)
                items.append(tilePacks ? .packs(id, edition) : .package(id, edition, Format(format)))
            }
        }
        for id in style {
            guard catalog.styles.contains(where: { $0.id == id }) else {
                let known = catalog.styles.map(\.id).joined(separator: ", ")
                throw CLIError(
                    .noInput, "the catalog has no style '\(id)'",
                    hint: known.isEmpty ? "it has no styles" : "it has \(known)")
            }
            items.append(.style(id))
        }
        return items
    }

    private func edition(of id: String, _ group: String?, in catalog: MapCatalog) throws -> Edition {
        let wanted = Edition(group: group, language: language)
        if catalog.package(id, wanted) != nil { return wanted }
        let plain = Edition(group: group)
        guard language != nil, catalog.package(id, plain) != nil else {
            let place = group.map { " in group '\($0)'" } ?? ""
            let known = catalog.packages.filter { $0.edition.group == group }.map(\.id)
            let nearest = Nearest.word(to: id, among: known).map { "did you mean '\($0)'? " } ?? ""
            throw CLIError(
                .noInput, "the catalog has no package '\(id)'\(place)",
                hint: "\(nearest)list its packages: packhorse device list, or search them: packhorse device search TEXT"
            )
        }
        Console.note(
            "\(id): the catalog does not have it in '\(language ?? "")'; using the package without a language")
        return plain
    }

    /// The installed items that the command line names: an id with its groups, formats and tile packs, or only the
    /// named groups.
    ///
    /// - Throws: ``CLIError`` 66 for an id or a style that is not installed.
    func items(among installed: [Item]) throws -> [Item] {
        var items: [Item] = []
        for id in ids {
            let found = installed.filter { item in
                switch item {
                case .region, .style: return false
                case .package(let name, let edition, _), .packs(let name, let edition):
                    guard name == id, language == nil || edition.language == language else { return false }
                    if case .package = item, tilePacks { return false }
                    return group.isEmpty || edition.group.map { group.contains($0) } ?? false
                }
            }
            guard !found.isEmpty else {
                throw CLIError(
                    .noInput, "'\(id)' is not installed",
                    hint: "list what is installed: packhorse device list --installed")
            }
            items += found
        }
        for id in style {
            guard installed.contains(.style(id)) else {
                throw CLIError(
                    .noInput, "the style '\(id)' is not installed",
                    hint: "list what is installed: packhorse device list --installed")
            }
            items.append(.style(id))
        }
        return items
    }
}
