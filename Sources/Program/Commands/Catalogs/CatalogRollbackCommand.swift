import ArgumentParser
import Catalog
import CatalogFormat
internal import CommandSupport
import Foundation
import Wire

/// `packhorse catalog rollback`: earlier versions become the listed ones again.
struct CatalogRollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Publish an earlier version again: of some packages, or of all that the last promotion changed.",
        discussion: """
            The files of the earlier version get a new version number, so that devices follow and never refuse an older catalog. Without --to the last
            promotion is undone, of all its packages or of those that are named: what it added is withdrawn. With --to the named packages get that
            version, in each edition that keeps it; so a later one comes back too. All packages are changed or none. The command can be repeated: what is done is not
            done again.
            With a folder the command changes the catalog itself and needs its signing key. With a name (main, or of --also-catalog) the coordinator does it.
            Examples:
              packhorse catalog rollback main --dry-run
              packhorse catalog rollback main EE --to 12
              packhorse catalog rollback ./data/catalog EE LV --signing-key keys/catalog.key
            """)

    @Argument(help: "The catalog: a folder, or a name.") var live: String
    @Argument(help: "The packages. Default: those of the last promotion.") var ids: [String] = []
    @Option(help: "The version whose files come back. Default: the one before the last promotion.") var to: Int32?
    @OptionGroup var change: CatalogChangeOptions

    func validate() throws {
        guard to == nil || !ids.isEmpty else {
            throw ValidationError("--to needs package ids: a version belongs to a package.")
        }
        guard to.map({ $0 > 0 }) ?? true else { throw ValidationError("--to must be a version, 1 or more.") }
    }

    func run() async throws {
        let command = self
        try await Interruptible.run {
            switch CatalogName(command.live) {
            case .name(let name):
                var order = command.change.message("rollback", command.ids, in: name)
                order.version = UInt32(command.to ?? 0)
                try await command.change.send(order, done: "rolled back")
            case .place(let text):
                let order = CatalogOrder(
                    .rollback(to: command.to), of: try command.change.selection(command.ids))
                try await command.change.carryOut(order, on: text, done: "rolled back")
            }
        }
    }
}
