import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
import Regions
internal import TextFormats

extension RegionsCommand {
    /// Finds regions and towns by name.
    struct Find: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "find", abstract: "Find regions and towns by name.",
            discussion: """
                Case and accents do not matter; names in other languages and spellings are found. Without a region or town of this name,
                those whose name begins so are printed, else those with a similar name. What the first column says is an area for other commands; a
                town also needs a margin. \(TownList.attribution)
                Examples:
                  packhorse regions find Tartu
                  packhorse regions find "Springfield, IL"
                """)
        @Argument(help: "A name; after a comma a region that it lies in.") var name: String
        @Option(help: "How many towns at most.") var limit: Int = 20
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var regions: RegionFolderOptions

        func validate() throws {
            guard (1...1_000).contains(limit) else { throw ValidationError("--limit is 1 to 1000.") }
        }

        func run() throws {
            let tree = try regions.tree
            let towns = try TownList.embedded()
            let found = try PlaceSearch.find(name, in: tree, towns, limit: limit)
            guard !found.isEmpty else {
                throw CLIError(
                    .noInput, "no region and no town has a name like '\(name)'",
                    hint:
                        "'packhorse regions list' lists regions; the towns are those with more than 5,000 people and some smaller ones"
                )
            }
            if json { return Console.result(try JSONText.pretty(FoundView(found, tree))) }
            if let kind = found.note { Console.note("note: no region and no town is named '\(name)'; \(kind)") }
            if !found.regions.isEmpty {
                RegionTable(found.regions, language: "en").lines.forEach(Console.result)
            }
            guard !found.towns.isEmpty else { return }
            if !found.regions.isEmpty { Console.result("") }
            try TownTable(found.towns, towns).lines.forEach(Console.result)
            if found.left > 0 { Console.note("\(Units.count(found.left, of: "more town")); --limit shows more") }
        }
    }
}

/// What was found; the JSON keys are stable.
private struct FoundView: Encodable {
    let match: String
    let regions: [RegionView]
    let towns: [TownView]

    init(_ found: PlaceSearch, _ tree: RegionTree) {
        match = found.match.rawValue
        regions = found.regions.map { RegionView($0, tree) }
        towns = found.towns.map { TownView($0, in: tree, language: "en") }
    }
}

extension PlaceSearch {
    /// How the names found differ from the text; `nil` when they are equal.
    fileprivate var note: String? {
        switch match {
        case .name: nil
        case .beginning: "these begin so"
        case .similar: "these are similar"
        }
    }
}
