import ArgumentParser
import Catalog

/// `packhorse catalog remove`: withdraws packages.
struct CatalogRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Withdraw packages: no list names them any more, and their files go.",
        discussion: """
            Without --group and --language an id goes from every edition. A package of that id that is built later gets versions above
            those that there were. What devices have installed stays there until they uninstall it; a schedule or an unfinished job
            that makes the package publishes it again: see 'packhorse schedule' and 'packhorse jobs'.
            Examples:
              packhorse catalog remove ./data/catalog test-1 test-2 --dry-run
              packhorse catalog remove ./data/catalog EE --group terrain --language de
            """)

    @OptionGroup var catalog: CatalogOptions
    @Argument(help: "Ids of packages.") var ids: [String]
    @Option(help: "Only from this group.") var group: String?
    @Option(help: "Only from this language.") var language: String?
    @Flag(help: "Tell what would go; change nothing.") var dryRun = false
    @Flag(help: FileList.help) var all = false
    @Flag(help: "The result as JSON.") var json = false

    func run() throws {
        try catalog.open().remove(ids, group: group, language: language, dryRun: dryRun).tell(
            dryRun: dryRun, all: all, json: json)
    }
}
