import ArgumentParser
import Catalog
import CatalogFormat
internal import CommandSupport
import Errors
import Files
import Foundation
internal import TextFormats

/// `packhorse catalog attach`: publishes a file that belongs to a package.
struct CatalogAttachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach", abstract: "Publish a file that belongs to a package: routing data, a search index.",
        discussion: """
            The file is copied as it is and gets a version, a digest and the catalog's signature; a folder becomes one tar archive. Its list is
            that of a data group: routing.valhalla is in groups/routing-valhalla/, whose packages.json CARTO's client reads as a source of its own.
            Attaching the same bytes again changes nothing. A patch from each of the previous versions is published beside a new one, if it has less
            than 70 % of its size.
            Examples:
              packhorse catalog attach ./data/catalog EE ./EE.vtiles --kind routing.valhalla --engine 3.6
              packhorse catalog attach ./data/catalog EE ./segments --kind routing.brouter --dry-run
            """)

    @OptionGroup var catalog: CatalogOptions
    @Argument(help: "The package's id.") var id: String
    @Argument(help: "The file, or a folder.") var file: String
    @Option(help: "What it is for: words between dots, for example routing.valhalla or search.sqlite.")
    var kind: String
    @Option(help: "The version of the program that reads it; an app compares this text.") var engine: String?
    @Option(help: ArgumentHelp("How old the data is: 2026-11-01.", valueName: "date")) var dataDate: String?
    @Option(help: "Number of previous versions that get a patch to the new one; 0 makes none.")
    var patchesFrom = PatchRule.previousVersions
    @Flag(help: "Show what would be published; change nothing.") var dryRun = false
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard (0...100).contains(patchesFrom) else {
            throw ValidationError("--patches-from must be between 0 and 100.")
        }
    }

    func run() async throws {
        let date = try dataDate.map(OfflineArguments.checkedDate)
        let opened = try catalog.open()
        try FileKind.requirePath(URL(filePath: file))
        let (source, id, kind, engine, dryRun) = (URL(filePath: file), id, kind, engine, dryRun)
        let previous = dryRun ? 0 : patchesFrom
        let (done, patches) = try await FileWork.run {
            let done = try opened.attach(
                contentsOf: source, to: id, kind: kind, engine: engine, dataDate: date, isDry: dryRun)
            guard previous > 0 else { return (done, [CatalogEntry.Patch]()) }
            // Also after the same bytes, whose patches a killed command did not make.
            let edition = try CatalogEdition(group: CatalogCompanion.group(of: kind))
            _ = try opened.makePatches(to: [edition: [id]], previous: previous)
            return (done, try opened.packages(in: edition).first { $0.id == id }?.patches ?? [])
        }
        if json { return Console.result(try JSONText.pretty(done)) }
        Console.result(done.file)
        let state = done.unchanged ? ", unchanged" : dryRun ? ", would be published" : ""
        let saved = patches.map { "; patch from version \($0.from): \(Units.bytes(UInt64(max(0, $0.size))))" }.joined()
        Console.note("\(id) \(kind) version \(done.version)\(state), \(Units.bytes(done.size))\(saved)")
    }
}

/// `packhorse catalog detach`: withdraws such files.
struct CatalogDetachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "detach", abstract: "Withdraw files that were attached to packages.",
        discussion: """
            Their versions go from the lists, then their files are removed. A later file of this kind gets versions above the old ones. Devices
            keep what they have. 'packhorse catalog remove' withdraws a package with all that is attached to it.
            Example: packhorse catalog detach ./data/catalog EE LV --kind routing.valhalla --dry-run
            """)

    @OptionGroup var catalog: CatalogOptions
    @Argument(help: "Package ids.") var ids: [String]
    @Option(help: "The kind, for example routing.valhalla.") var kind: String
    @Flag(help: "Show what would be removed; change nothing.") var dryRun = false
    @Flag(help: FileList.help) var all = false
    @Flag(help: "Print the result as JSON.") var json = false

    func run() async throws {
        let (opened, ids, kind, dryRun) = (try catalog.open(), ids, kind, dryRun)
        let done = try await FileWork.run { try opened.detach(ids, kind: kind, isDry: dryRun) }
        try done.printSummary(dryRun: dryRun, all: all, json: json)
    }
}
