import ArgumentParser
import Catalog
import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Errors

/// `packhorse catalog diff`: what a promotion would change.
struct CatalogDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two catalogs: packages added, changed and removed. Exit code 1 if one shrinks too much.",
        discussion: """
            Shows what STAGING has and LIVE does not, and the reverse: tiles, bytes, zooms, bounds, attribution. The largest losses come first.
            Packages with the same bytes are unchanged, whatever their versions are. A package that STAGING lacks counts as lost;
            'catalog promote' leaves it as it is. A companion file that STAGING lacks is not compared.
            --bytes adds what the patches to each package weigh. They are those that STAGING has, from its own earlier versions: what an update will
            receive. LIVE gets its own when the package is promoted.
            A catalog is a folder, an http(s) address, or the name of a catalog of the coordinator (main, or of --also-catalog). Write a folder
            with a slash: ./staging.
            Examples:
              packhorse catalog diff staging main --max-shrink 10%
              packhorse catalog diff ./staging https://maps.example.com/offline/ EE LV --json
            """)

    @Argument(help: "The new catalog: a folder, an address or a name.") var staging: String
    @Argument(help: "The catalog that devices follow.") var live: String
    @Argument(help: "Compare only these packages.") var ids: [String] = []
    @Option(
        help: ArgumentHelp(
            "The largest share of its tiles or bytes that a package, and all together, may lose: 10%.",
            valueName: "share"))
    var maxShrink: String = "50%"
    @Flag(help: "Show the sizes of the patches too; --json always has them.") var bytes = false
    @Flag(help: "Print the result as JSON.") var json = false
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let command = self
        try await Interruptible.run {
            let most = try MaxShrinkOption(command.maxShrink).share
            let selection = CatalogSelection(command.ids)
            let (new, old) = try await (command.lists(command.staging), command.lists(command.live))
            var both = new
            for (edition, entries) in old { both[edition, default: []] += entries }
            _ = try selection.choose(from: both, named: "\(command.staging)' and '\(command.live)")
            let difference = CatalogDifference(new: selection.filter(new), old: selection.filter(old))
            try difference.show(asJSON: command.json, withPatches: command.bytes)
            let excess = difference.excess(beyond: most)
            guard !excess.isEmpty else { return }
            throw CLIError(
                .beyondLimit,
                "'\(command.staging)' has less than '\(command.live)', by more than \(CatalogDifference.percent(most))",
                details: excess, hint: "look at the packages above; --max-shrink allows more")
        }
    }

    private func lists(_ text: String) async throws -> [CatalogEdition: [CatalogEntry]] {
        try await CatalogName(text).source(cluster).lists()
    }
}
