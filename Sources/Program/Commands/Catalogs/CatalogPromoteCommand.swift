import ArgumentParser
import Catalog
import CatalogFormat
internal import CommandSupport
import Errors
import Foundation
import Wire

/// `packhorse catalog promote`: packages of one catalog become the listed ones of another.
struct CatalogPromoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "Publish packages of a staging catalog in the live catalog: all of them or none.",
        discussion: """
            The packages get the next versions of LIVE; their files are linked, or copied to another file system. Lists, signature and catalog.json change as
            one: a device sees the old catalog or the new one. Packages that only LIVE has stay. An interrupted promotion is completed when the command
            is repeated. 'catalog rollback LIVE' undoes the last promotion.
            With two folders the command changes LIVE itself and needs its signing key. With two names (main, or of --also-catalog) the coordinator does it,
            with its key, --keep-versions and --patches-from. Write a folder with a slash: ./staging.
            Examples:
              packhorse catalog promote staging main --dry-run
              packhorse catalog promote staging main EE LV --max-shrink 10%
              packhorse catalog promote ./staging ./data/catalog --signing-key keys/catalog.key
            """)

    @Argument(help: "The catalog that has the packages: a folder, or a name.") var staging: String
    @Argument(help: "The catalog that gets them: a folder, or a name.") var live: String
    @Argument(help: "Promote only these packages.") var ids: [String] = []
    @Option(
        help: ArgumentHelp(
            "Refuse everything if a package loses a larger share of its tiles or bytes: 10%.", valueName: "share"))
    var maxShrink: String = "50%"
    @Flag(help: "Allow packages to replace packages of another tileset.") var replaceTileset = false
    @Flag(help: "Allow packages to replace packages of another area.") var replaceArea = false
    @OptionGroup var change: CatalogChangeOptions

    func run() async throws {
        let command = self
        try await Interruptible.run {
            let most = try MaxShrinkOption(command.maxShrink).share
            try await command.promote(most)
        }
    }

    private func promote(_ most: Double) async throws {
        switch (CatalogName(staging), CatalogName(live)) {
        case (.name(let from), .name(let to)):
            var order = change.message("promote", ids, in: to)
            (order.from, order.maxShrink) = (from, most)
            (order.replacesTileset, order.replacesArea) = (replaceTileset, replaceArea)
            try await change.send(order, done: "promoted")
        case (.place(let from), .place(let to)):
            var order = CatalogOrder(
                .promotion(from: try CatalogName.folder(from), maxShrink: most), of: try change.selection(ids))
            (order.replacesTileset, order.replacesArea) = (replaceTileset, replaceArea)
            try await change.carryOut(order, on: to, done: "promoted")
        default:
            throw CLIError(
                .usage, "'\(staging)' and '\(live)' are a folder and a name of a coordinator's catalog",
                hint: "give two names, or two folders, such as ./staging")
        }
    }
}
