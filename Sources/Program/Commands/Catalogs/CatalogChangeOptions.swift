import ArgumentParser
import Catalog
import CatalogFormat
internal import ClusterClient
internal import CommandSupport
import Coordinator
import Errors
import Files
import Foundation
import Wire

/// What promotions and rollbacks have in common.
struct CatalogChangeOptions: ParsableArguments {
    @Option(help: "Only in this group.") var group: String?
    @Option(help: "Only in this language.") var language: String?
    @Flag(help: "Only in the main edition, which has no group and no language.") var mainEdition = false
    @Flag(help: "Show what would be changed; change nothing.") var dryRun = false
    @Option(
        help: ArgumentHelp(
            "For a folder: sign catalog.json with this key; required for a signed catalog. Default: $PACKHORSE_SIGNING_KEY.",
            valueName: "file"))
    var signingKey: String?
    @Option(help: "For a folder: number of versions of each package to keep, including the newest. Default: all.")
    var keepVersions: Int?
    @Option(help: "For a folder: number of previous versions that get a patch to the new one; 0 makes none.")
    var patchesFrom = PatchRule.previousVersions
    @Flag(help: "Print the result as JSON.") var json = false
    @OptionGroup var cluster: ClusterOptions

    func validate() throws {
        guard keepVersions.map({ (1...1_000).contains($0) }) ?? true else {
            throw ValidationError("--keep-versions must be between 1 and 1000.")
        }
        guard (0...100).contains(patchesFrom) else {
            throw ValidationError("--patches-from must be between 0 and 100.")
        }
        guard !mainEdition || group == nil && language == nil else {
            throw ValidationError("--main-edition is the edition without --group and --language; give one of them.")
        }
    }

    /// The packages, in every edition unless one is named.
    func selection(_ ids: [String]) throws -> CatalogSelection {
        let isEvery = group == nil && language == nil && !mainEdition
        return CatalogSelection(
            ids, edition: isEvery ? nil : try CatalogEdition(group: group, language: language))
    }

    /// The order for a coordinator.
    func message(_ order: String, _ ids: [String], in catalog: String) -> PBChangeCatalog {
        .make {
            $0.order = order
            $0.catalog = catalog
            $0.packages = ids
            $0.edition = PBEdition(group: group ?? "", language: language ?? "")
            $0.mainEdition = mainEdition
            $0.dryRun = dryRun
        }
    }

    /// Lets the coordinator change one of its catalogs, and prints what it did.
    func send(_ order: PBChangeCatalog, done: String) async throws {
        let answer = try await CatalogName.asking(order.catalog) {
            try await cluster.withClient { try await $0.change(order) }
        }
        let difference = try JSONDecoder().decode(CatalogDifference.self, from: answer.difference)
        try show(difference, done, goesBack: order.order == "rollback")
        if answer.omitted > 0 {
            Console.warning(
                "\(answer.omitted) packages that differ less are not shown: the answer would be too large")
        }
    }

    /// Changes the catalog in a folder, makes patches, and prints what was done.
    func carryOut(_ order: CatalogOrder, on place: String, done: String) async throws {
        var order = order
        order.isDry = dryRun
        let catalog = try Catalog(
            try CatalogName.folder(place), create: false, signingKey: try SigningKeyOption.read(signingKey),
            keepVersions: keepVersions)
        let (chosen, wantsPatches) = (order, !dryRun && patchesFrom > 0)
        let plan = try await FileWork.run { () -> CatalogPlan in
            let plan = try catalog.carryOut(chosen, cutting: CatalogPacks.maker)
            if wantsPatches {
                // Also those that a command before did not make because it was interrupted.
                let before = try catalog.publishedByPromotion()
                _ = try catalog.makePatches(
                    to: plan.published.merging(before) { $0.union($1) }, previous: patchesFrom)
            }
            return plan
        }
        try show(plan.difference, done, goesBack: plan.kind == .rollback)
    }

    private func show(_ difference: CatalogDifference, _ done: String, goesBack: Bool) throws {
        let isNew = difference.sequence != nil
        try difference.show(
            asJSON: json, done: dryRun ? "would be \(done)" : isNew ? done : "nothing to change", goesBack: goesBack)
    }
}
