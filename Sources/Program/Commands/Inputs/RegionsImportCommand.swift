import ArgumentParser
internal import CommandSupport
import Foundation
import Regions
internal import TextFormats

extension RegionsCommand {
    /// Imports finer boundaries, or additional regions.
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import", abstract: "Replace or add regions from a GeoJSON file (WGS 84).",
            discussion: """
                Ids are read from the usual properties: iso_3166_2, ISO3166-1, ISO_A2, shapeISO and others.
                Examples:
                  packhorse regions import counties.geojson --level region
                  packhorse regions import estonia.geojson --id code --name label --replace
                """)

        enum Level: String, ExpressibleByArgument, CaseIterable {
            case country, region
        }

        @Argument(help: "The GeoJSON file.") var file: String
        @Option(help: "Import only countries or only regions.") var level: Level?
        @Option(name: .customLong("id"), help: "The property with the id.") var idKey: String?
        @Option(name: .customLong("name"), help: "The property with the name.") var nameKey: String?
        @Flag(help: "Replace the boundaries of existing regions.") var replace = false
        @Flag(help: "List every region; otherwise the first 20.") var all = false
        @OptionGroup var regions: RegionFolderOptions

        func run() throws {
            _ = try InputFile.read(URL(filePath: file))
            let kind: Region.Kind? = level.map { $0 == .country ? .country : .region }
            try OutputLocation.makeFolder(regions.folder)
            let report = try RegionImport.run(
                URL(filePath: file), into: regions.folder,
                options: .init(level: kind, idKey: idKey, nameKey: nameKey, replace: replace), tree: try regions.tree)
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
