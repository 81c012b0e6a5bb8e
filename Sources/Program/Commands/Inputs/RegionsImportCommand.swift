import AreaFiles
import ArgumentParser
internal import CommandSupport
import Foundation
import Regions
internal import TextFormats

extension RegionsCommand {
    /// Imports finer boundaries, or additional regions.
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import", abstract: "Replace or add regions from a file with areas (WGS 84).",
            discussion: """
                The content of the file tells its format, as for --area. Ids are read from the usual properties: iso_3166_2, ISO3166-1, ISO_A2,
                shapeISO and others. --as makes one region of all polygons, also with an id that is no ISO code.
                Examples:
                  packhorse regions import counties.geojson --level region
                  packhorse regions import estonia.geojson --id code --name label --replace
                  packhorse regions import alps.poly --as alps --parent Europe
                """)

        enum Level: String, ExpressibleByArgument, CaseIterable {
            case country, region
        }

        @Argument(help: "The file; '-' is standard input.") var file: String
        @Option(help: "Import only countries or only regions.") var level: Level?
        @Option(name: .customLong("id"), help: "The property with the id.") var idKey: String?
        @Option(name: .customLong("name"), help: "The property with the name.") var nameKey: String?
        @Option(name: .customLong("as"), help: "Make one region with this id of all polygons.") var ownID: String?
        @Option(help: "The region above a new one whose id is no ISO code. Default: the world.") var parent: String?
        @Flag(help: "Replace the boundaries of existing regions.") var replace = false
        @Flag(help: "List every region; otherwise the first 20.") var all = false
        @OptionGroup var regions: RegionFolderOptions

        func validate() throws {
            guard ownID == nil || idKey == nil else { throw ValidationError("Give only one of --as and --id.") }
        }

        func run() throws {
            let source = try AreaSource(file)
            let (_, sink) = try source.read(nil, AreaSink.Wishes(features: true))
            let kind: Region.Kind? = level.map { $0 == .country ? .country : .region }
            try OutputLocation.makeFolder(regions.folder)
            let report = try RegionImport.run(
                sink.features, of: source.file ?? URL(filePath: source.stem), into: regions.folder,
                options: .init(
                    level: kind, idKey: idKey, nameKey: nameKey, replace: replace, id: ownID, parent: parent),
                tree: try regions.treeOfAnyFolder)
            for warning in report.warnings { Console.warning(warning) }
            // "Feature 12 has no id.": the feature, then the cause.
            let skipped = report.skipped.map { $0.replacing(#/^(Feature \d+(?: \(.*?\))?) /#) { "\($0.output.1): " } }
            for cause in EqualCauses.lines(skipped) { Console.note("skipped: \(cause)") }
            FileList.print(
                report.added.map { "added \($0)" } + report.replaced.map { "replaced \($0)" },
                sum:
                    "added \(Units.count(report.added.count, of: "region")), replaced \(Units.count(report.replaced.count))",
                all: all)
        }
    }
}
