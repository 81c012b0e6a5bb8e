import ArgumentParser
import Catalog
import CatalogFormat
internal import CommandSupport
internal import Digests
import Files
import Foundation
import PackageFiles

/// `packhorse catalog patch`: makes the missing patches of a catalog.
struct CatalogPatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patch", abstract: "Create patches from previous versions to the newest ones.",
        discussion: """
            A coordinator creates them for each package that it publishes, 'catalog attach' for each file that it attaches. This command is
            for versions that were imported, or published without patches. A patch is not kept if it has 70 % or more of the size of the whole file, or if the new version is not in Packhorse's
            own layout, so that applying the patch would give other bytes ('catalog import --rewrite').
            Example: packhorse catalog patch ./data/catalog --previous 2
            """)

    @OptionGroup var catalog: CatalogOptions
    @Option(help: "Number of previous versions that get a patch to the newest.") var previous = PatchRule
        .previousVersions

    func validate() throws {
        guard (1...100).contains(previous) else { throw ValidationError("--previous must be between 1 and 100.") }
    }

    func run() throws {
        let catalog = try catalog.open()
        for edition in try catalog.editions() {
            for wanted in try catalog.wantedPatches(in: edition, previous: previous) {
                let isListed = try catalog.make(wanted, with: Self.maker)
                let name =
                    "\(edition.path)\(wanted.id) \(wanted.from)-\(wanted.to)\(wanted.format.map { " \($0)" } ?? "")"
                Console.result(
                    isListed ? name : "\(name)  not kept: too large, or it does not result in the same bytes")
            }
        }
    }

    /// Makes a patch; one of MBTiles files is applied once, others were proven when they were made.
    ///
    /// The result must have exactly the bytes of the new version.
    ///
    /// It does not if another program wrote the new version in its own layout.
    static let maker: PatchMaker = { wanted, target in
        let (old, new) = (wanted.old, wanted.new)
        let isOpaque = wanted.format == CatalogCompanion.format
        let made =
            try isOpaque
            ? Patch.makeOpaque(old: old, new: new, into: target) : Patch.make(old: old, new: new, into: target)
        guard !made.isExact else { return (made.digest, made.size) }
        let trial = target.appendingPathExtension("trial")
        // A trial file that stays behind is harmless: the folder of patches is pruned.
        defer { try? FileManager.default.removeItem(at: trial) }
        do {
            try Patch.apply(target, to: old, into: trial, expecting: try Digest.ofFile(new).digest)
        } catch let error as PackagesError where error.code == .verificationFailed {
            return nil
        }
        return (made.digest, made.size)
    }
}
