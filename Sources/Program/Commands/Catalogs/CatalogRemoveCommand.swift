import ArgumentParser
internal import Catalog
import CatalogFormat
internal import CommandSupport

/// `packhorse catalog remove`: withdraws packages.
struct CatalogRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Withdraw packages: remove them from the lists and delete their files.",
        discussion: """
            Without --group and --language an id is removed from every edition of the catalog. A later package with this id gets versions above
            the old ones. Installed packages stay on devices until they are removed. A schedule or an unfinished job
            that makes the package publishes it again: see 'packhorse schedule' and 'packhorse jobs'.
            Examples:
              packhorse catalog remove ./data/catalog test-1 test-2 --dry-run
              packhorse catalog remove ./data/catalog EE --group terrain --language de
            """)

    @OptionGroup var catalog: CatalogOptions
    @Argument(help: "Package ids.") var ids: [String]
    @Option(help: "Only from this group.") var group: String?
    @Option(help: "Only from this language.") var language: String?
    @Flag(help: "Show what would be removed; change nothing.") var dryRun = false
    @Flag(help: FileList.help) var all = false
    @Flag(help: "Print the result as JSON.") var json = false

    func run() throws {
        try catalog.open().remove(ids, group: group, language: language, dryRun: dryRun).printSummary(
            dryRun: dryRun, all: all, json: json)
    }
}
