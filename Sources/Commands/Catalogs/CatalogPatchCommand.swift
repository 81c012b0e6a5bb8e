import ArgumentParser
import Catalog
import Foundation
import Packages

/// `packhorse catalog patch`: makes the patches that a catalog could offer.
struct CatalogPatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patch", abstract: "Make the patches from previous versions to the newest ones.",
        discussion: """
            A coordinator makes them for each package that it publishes; this is for versions that were imported, or published
            without. A patch of seven tenths of the whole file or more is not kept.
            Example: packhorse catalog patch ./data/catalog --previous 2
            """)

    @OptionGroup var catalog: CatalogOptions
    @Option(help: "Earlier versions that get a patch to the newest.") var previous = PatchRule.previousVersions

    func validate() throws {
        guard (1...100).contains(previous) else { throw ValidationError("--previous must lie between 1 and 100.") }
    }

    func run() throws {
        let catalog = try catalog.open()
        for edition in try catalog.editions() {
            for wanted in try catalog.wantedPatches(in: edition, previous: previous) {
                let isListed = try catalog.make(wanted, with: Self.maker)
                let name = "\(edition.path)\(wanted.id) \(wanted.from)-\(wanted.to)"
                Console.result(isListed ? name : "\(name)  not kept: the whole file is hardly larger")
            }
        }
    }

    /// Makes an MBTiles diff.
    static let maker: PatchMaker = { old, new, target in
        let made = try Patch.make(old: old, new: new, into: target)
        return (made.digest, made.size)
    }
}
