import Catalog
import CatalogFormat
import Digests
import Errors
import Foundation
import PackageFiles
import Scheduling
import Tiles
import Wire

/// A merged package that is to be published.
struct PublishOrder: Sendable {
    let id: String
    /// The package as a blob.
    let file: URL
    let merged: MergedPackage
    /// The mask in the form of packages.json.
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
    /// The catalog channel it belongs to.
    var edition = CatalogEdition.main
    /// The date of the data, as stated by its source.
    var dataDate: String?
    /// Whether it may replace a package of another tileset.
    var replacesTileset = false
    /// Upper bound of the tiles of its mask that are missing because they failed.
    ///
    /// Other missing tiles are empty.
    var failedTiles: UInt64 = 0
    /// Whether it may replace a package of another area or of narrower zooms.
    var replacesArea = false
    /// Whether it may have less than half of the tiles or bytes of the catalog's version.
    var allowsShrink = false
    /// How it is cut into tile packs; `nil` = no tile packs.
    var packs: PackScheme?
    /// Its region and the ancestors that the embedded tree may not contain.
    var nodes: [CatalogIndex.Node] = []

    /// The other files of a merged package with the addresses of their blobs, in the same order.
    ///
    /// - Throws: ``CatalogError`` `bad-request` for a format that this build does not know.
    static func files(_ merged: MergedPackage, _ blobs: [URL]) throws(CatalogError) -> [PublishFile] {
        var files: [PublishFile] = []
        for (file, url) in zip(merged.files, blobs) {
            guard let format = PackageFormat(rawValue: file.format) else {
                throw CatalogError(.badRequest, "This build cannot publish a file of format '\(file.format)'.")
            }
            files.append(
                PublishFile(
                    format: file.format, fileExtension: format.fileExtension, url: url, digest: file.digest,
                    size: file.size))
        }
        return files
    }
}

extension CatalogEdition {
    /// The catalog channel of a submission.
    ///
    /// - Throws: ``CatalogError`` `bad-request`.
    init(of edition: PBEdition) throws(CatalogError) {
        try self.init(
            group: edition.group.isEmpty ? nil : edition.group,
            language: edition.language.isEmpty ? nil : edition.language)
    }
}

/// The result of publishing a package.
struct Publication: Hashable, Sendable {
    let version: UInt32
    /// The path inside the catalog folder.
    let path: String
    /// Whether the catalog already had exactly these bytes.
    let unchanged: Bool
}

/// Where finished packages are published.
///
/// Publishing the same bytes again must be harmless: it is repeated after a crash.
protocol Publishing: Sendable {
    func publish(_ order: PublishOrder) throws -> Publication
    /// The same for several packages at once, which may cost less. Returns the results in the same order.
    func publish(_ orders: [PublishOrder]) -> [Result<Publication, any Error>]
    /// Whether patches to the published package can be made and do not exist yet.
    func wantsPatches(_ order: PublishOrder) -> Bool
    /// Makes the patches to published packages and lists them. Takes as long as reading their versions.
    ///
    /// A patch that cannot be made is not an error: clients fetch the whole file.
    func makePatches(_ orders: [PublishOrder])
    /// The time that the last writing of the catalog's lists took; `nil` when it costs nothing.
    var listCost: Duration? { get }
    /// The existing files of a package's newest version, complete according to their lengths.
    func held(_ id: String, _ edition: CatalogEdition) throws -> [Digest: URL]
    /// Checks a job against the catalog before anything is fetched for it.
    ///
    /// - Returns: Warnings, each a sentence with its remedy.
    func outlook(_ spec: JobSpec) throws(SubmitProblem) -> [String]
    /// Removes packages with all their versions from the lists, and their files.
    ///
    /// - Parameter edition: The channel; the main one stands for every channel.
    func withdraw(_ ids: [String], from edition: CatalogEdition) throws -> CatalogPruning
    /// The cause to report to the scheduler for an error, and whether waiting may resolve it.
    func trouble(_ error: any Error) -> (trouble: Trouble, mayHeal: Bool)
}

extension Publishing {
    var listCost: Duration? { nil }

    func wantsPatches(_ order: PublishOrder) -> Bool { false }

    func makePatches(_ orders: [PublishOrder]) {}

    func outlook(_ spec: JobSpec) throws(SubmitProblem) -> [String] { [] }

    func withdraw(_ ids: [String], from edition: CatalogEdition) throws -> CatalogPruning {
        throw CatalogError(.badRequest, "Packages of this coordinator cannot be withdrawn.")
    }

    func publish(_ orders: [PublishOrder]) -> [Result<Publication, any Error>] {
        orders.map { order in Result { try publish(order) } }
    }
}
