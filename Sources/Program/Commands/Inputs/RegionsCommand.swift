import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import Gateway
import Regions
internal import TextFormats
import Tiles

/// `packhorse regions`: the world tree.
struct RegionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "regions",
        abstract: "Look up countries, regions and towns, or import finer boundaries.",
        discussion: """
            Examples:
              packhorse regions find Tartu
              packhorse regions list
              packhorse regions list Europe
              packhorse regions show Estland
              packhorse regions at 24.75,59.44
              packhorse regions import counties.geojson --level region
            """,
        subcommands: [Find.self, List.self, Show.self, At.self, Import.self], defaultSubcommand: List.self)

    /// The children of a node.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the direct children of a region. Default: the continents.",
            discussion: "Example: packhorse regions list DE")
        @Argument(help: "Region id or name.") var parent: String = "001"
        @Flag(help: "The whole subtree.") var recursive = false
        @Flag(help: "Print the result as JSON.") var json = false
        @Option(help: "Language of the names: en de fr it zh es ru et.") var language: String = "en"
        @OptionGroup var regions: RegionFolderOptions

        func run() throws {
            let tree = try regions.tree
            let parent = try AreaReader.find(parent, in: tree)
            let found = recursive ? Self.below(parent.id, tree) : tree.children(of: parent.id)
            if json { return Console.result(try JSONText.pretty(found.map { RegionView($0, tree) })) }
            guard !found.isEmpty else {
                return Console.note(
                    "\(parent.id) (\(parent.name(language))) has no regions below it; see packhorse regions show \(parent.id)"
                )
            }
            RegionTable(found, language: language).lines.forEach(Console.result)
            noteMissingNames(of: found)
        }

        /// Prints a note when no listed region has a name in the requested language.
        private func noteMissingNames(of found: [Region]) {
            let base = language.prefix { $0 != "-" && $0 != "_" }.lowercased()
            guard !found.isEmpty, !found.contains(where: { $0.names[base] != nil }) else { return }
            Console.note("note: none of these has a name in the language '\(language)'; using English")
        }

        private static func below(_ id: String, _ tree: RegionTree) -> [Region] {
            tree.children(of: id).flatMap { [$0] + below($0.id, tree) }
        }
    }

    /// Shows one region with all its data.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show one region: names, path, bounds, tiles.",
            discussion: """
                Examples:
                  packhorse regions show EE
                  packhorse regions show EE --geojson > estonia.geojson
                """)
        @Argument(help: "Region id, or its name in any language.") var region: String
        @Flag(help: "Print the result as JSON.") var json = false
        @Flag(help: "Print the boundary as GeoJSON, with all its positions and the boxes of islands.") var geojson =
            false
        @OptionGroup var regions: RegionFolderOptions

        func validate() throws {
            guard !json || !geojson else { throw ValidationError("Give only one of --json and --geojson.") }
        }

        func run() throws {
            let tree = try regions.tree
            let found = try AreaReader.find(region, in: tree)
            if geojson {
                let text = String(decoding: RegionOutline.geoJSON(found, in: tree, zoom: nil), as: UTF8.self)
                return Console.result(text.hasSuffix("\n") ? String(text.dropLast()) : text)
            }
            let view = RegionView(found, tree)
            if json {
                Console.result(try JSONText.pretty(view))
                return
            }
            Console.result("\(view.id)  \(view.kind)  \(view.path)")
            Console.result("bounds   \(view.bounds)")
            for language in RegionTree.languages { Console.result("\(language)       \(view.names[language] ?? "")") }
            Console.result(
                "tiles    \(Units.count(tree.mask(of: view.id, maxZoom: 14).count(in: .upTo14))) at zoom 0-14")
        }
    }

    /// The smallest region at a point.
    struct At: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "at", abstract: "Show the smallest region at a coordinate, and its parents.",
            discussion: "Example: packhorse regions at 24.75,59.44 13.4,52.5")
        @Argument(parsing: .allUnrecognized, help: "longitude,latitude in degrees; may be repeated.")
        var coordinate: [String]
        @Flag(help: "Print the result as JSON.") var json = false
        @OptionGroup var regions: RegionFolderOptions

        func run() throws {
            let points = try points()
            let tree = try regions.tree
            let found = try points.map { point in
                guard let region = tree.smallest(longitude: point.longitude, latitude: point.latitude) else {
                    throw CLIError(.noInput, "no region at \(point.longitude),\(point.latitude): open sea")
                }
                return Array(sequence(first: region) { tree.parent(of: $0.id) })
            }
            if json {
                let places = zip(points, found).map { point, line in
                    PlaceView(
                        longitude: point.longitude, latitude: point.latitude, regions: line.map { RegionView($0, tree) }
                    )
                }
                return Console.result(try JSONText.pretty(places))
            }
            for line in found {
                for (region, word) in zip(line, [""] + Array(repeating: "  in ", count: line.count)) {
                    Console.result("\(word)\(region.id)  \(region.name("en"))")
                }
            }
        }

        /// The numbers in pairs, however they are divided into arguments: 24.75,59.44 or 24.75 59.44.
        private func points() throws -> [(longitude: Double, latitude: Double)] {
            if let option = coordinate.first(where: { $0.hasPrefix("--") }) {
                throw CLIError(.usage, "unknown option '\(option)'", hint: "see 'packhorse help regions at'")
            }
            let words = coordinate.joined(separator: ",").split(separator: ",")
            let numbers = words.compactMap { Double($0) }
            let points = stride(from: 0, to: numbers.count - 1, by: 2).map {
                (longitude: numbers[$0], latitude: numbers[$0 + 1])
            }
            let areOnEarth = points.allSatisfy {
                (-180...180).contains($0.longitude) && (-90...90).contains($0.latitude)
            }
            guard !points.isEmpty, points.count * 2 == words.count, areOnEarth else {
                throw CLIError(
                    .usage, "'\(coordinate.joined(separator: " "))' is not longitude,latitude",
                    hint: "packhorse regions at 24.75,59.44")
            }
            return points
        }
    }
}

/// A coordinate as printed, with its regions from the smallest to the world; the JSON keys are stable.
private struct PlaceView: Encodable {
    let longitude: Double
    let latitude: Double
    let regions: [RegionView]
}

/// Regions as a table for people.
struct RegionTable {
    let lines: [String]

    /// - Parameter language: Of the names.
    init(_ regions: [Region], language: String) {
        var table = Table("id", "kind", "name", "in")
        for region in regions {
            table.add(region.id, region.kind.rawValue, region.name(language), region.parentID ?? "")
        }
        lines = table.lines
    }
}

/// A region as printed; the JSON keys are stable.
struct RegionView: Encodable {
    let id: String
    let kind: String
    let parent: String?
    let path: String
    let names: [String: String]
    let bounds: String

    init(_ region: Region, _ tree: RegionTree) {
        id = region.id
        kind = "\(region.kind)"
        parent = region.parentID
        path = tree.path(of: region.id, language: "en")
        names = region.names
        bounds = "\(region.bounds)"
    }
}

extension ZoomRange {
    /// Zooms 0 to 14, the depth of CARTO's packages.
    static let upTo14 = ZoomRange(min: 0, max: 14) ?? .all
}
