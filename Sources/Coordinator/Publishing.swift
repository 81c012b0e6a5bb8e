import Catalog
import Errors
import Foundation
import Packages
import Scheduling
import Shards
import Tiles
import Wire

/// A merged package on its way into the catalog.
struct PublishOrder: Sendable {
    let id: String
    /// The package as a blob.
    let file: URL
    let merged: MergedPackage
    /// The mask as packages.json has it.
    let maskWire: String
    /// Localized name paths by language.
    let names: [String: String]
    /// Id of the job's tileset.
    let tileset: String
    /// The tileset's attribution; empty when it has none.
    let attribution: String
    let zooms: ZoomRange
    /// The same package in other formats.
    var files: [PublishFile] = []
    /// The part of the catalog it belongs to.
    var edition = CatalogEdition.main
    /// How old the data is, as its source says.
    var dataDate: String?
    /// Whether it may take the place of a package of another tileset.
    var replacesTileset = false
    /// At most how many tiles of its mask it lacks because they failed; the others that it lacks are empty.
    var failedTiles: UInt64 = 0
    /// Whether it may take the place of a package of another area or of narrower zooms.
    var replacesArea = false
    /// Whether it may have less than half of the tiles or bytes of the catalog's version.
    var allowsShrink = false
    /// How it is cut into tile packs; `nil` = it is not.
    var packs: PackScheme?
    /// Its region and those above it that the embedded tree may lack.
    var nodes: [CatalogIndex.Node] = []

    /// A merged package's other files with the addresses of their blobs, which are in the same order.
    ///
    /// - Throws: ``CatalogError`` `bad-request` for a format that this build does not know.
    static func files(_ merged: MergedPackage, _ blobs: [URL]) throws(CatalogError) -> [PublishFile] {
        var files: [PublishFile] = []
        for (file, url) in zip(merged.files, blobs) {
            guard let format = PackageFormat(rawValue: file.format), let digest = Digest(bytes: file.digest.bytes)
            else {
                throw CatalogError(.badRequest, "This build cannot publish a file of format '\(file.format)'.")
            }
            files.append(
                PublishFile(
                    format: file.format, fileExtension: format.fileExtension, url: url, digest: digest,
                    size: file.size))
        }
        return files
    }
}

extension CatalogEdition {
    /// The part of the catalog that a submission names.
    ///
    /// - Throws: ``CatalogError`` `bad-request`.
    init(of edition: PBEdition) throws(CatalogError) {
        try self.init(
            group: edition.group.isEmpty ? nil : edition.group,
            language: edition.language.isEmpty ? nil : edition.language)
    }
}

/// How a package came into the catalog.
struct Publication: Hashable, Sendable {
    let version: UInt32
    /// Inside the catalog folder.
    let path: String
    /// Whether the catalog had these very bytes already.
    let unchanged: Bool
}

/// Where finished packages go.
///
/// Publishing the same bytes again must be harmless: it is repeated after a crash.
protocol Publishing: Sendable {
    func publish(_ order: PublishOrder) throws -> Publication
    /// The same for many at once, which may cost less; what became of each, in their order.
    func publish(_ orders: [PublishOrder]) -> [Result<Publication, any Error>]
    /// Whether patches to the package that was published can be made, and are not there.
    func wantsPatches(_ order: PublishOrder) -> Bool
    /// Makes the patches to packages that were published, and lists them; takes as long as reading their versions.
    ///
    /// A patch that cannot be made is no failure: clients fetch the whole file.
    func makePatches(_ orders: [PublishOrder])
    /// The time that writing the catalog's lists took the last time; `nil` when that costs nothing.
    var listCost: Duration? { get }
    /// The files of a package's newest version that are there, whole by their lengths.
    func held(_ id: String, _ edition: CatalogEdition) throws -> [ContentDigest: URL]
    /// What speaks against a job, or for a second thought, before anything is fetched for it.
    ///
    /// - Returns: Warnings, each a sentence with its remedy.
    func outlook(_ spec: JobSpec) throws(SubmitProblem) -> [String]
    /// What to tell the scheduler about an error, and whether waiting may cure it.
    func trouble(_ error: any Error) -> (trouble: Trouble, mayHeal: Bool)
}

extension Publishing {
    var listCost: Duration? { nil }

    func wantsPatches(_ order: PublishOrder) -> Bool { false }

    func makePatches(_ orders: [PublishOrder]) {}

    func outlook(_ spec: JobSpec) throws(SubmitProblem) -> [String] { [] }

    func publish(_ orders: [PublishOrder]) -> [Result<Publication, any Error>] {
        orders.map { order in Result { try publish(order) } }
    }
}
