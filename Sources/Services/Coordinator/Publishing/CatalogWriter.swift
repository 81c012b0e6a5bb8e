import Catalog
import CatalogFormat
import CatalogTransfer
import Digests
import Errors
import Files
import Foundation
import PackageFiles
import Scheduling

/// Writes finished packages into a catalog.
///
/// Publishing the same bytes again must be harmless: it is repeated after a crash.
protocol CatalogWriter: Sendable {
    /// Where the catalog is.
    var folder: URL { get }
    /// Publishes packages together. Returns the results in the same order.
    func publish(_ requests: [PublishRequest]) -> [Result<Published, any Error>]
    /// Publishes packages in one change: all of them, or none. Returns the results in the same order.
    ///
    /// - Throws: ``RefusedTogether`` with the packages that are refused; any other error concerns all of them.
    func publishTogether(_ requests: [PublishRequest]) throws -> [Published]
    /// Whether patches to the published package can be made and do not exist yet.
    func wantsPatches(_ request: PublishRequest) -> Bool
    /// Makes the patches to published packages and lists them. Takes as long as reading their versions.
    ///
    /// A patch that cannot be made is not an error: clients fetch the whole file.
    func makePatches(_ requests: [PublishRequest])
    /// Makes the patches to the listed versions of these packages that do not exist yet, and lists them.
    func makeMissingPatches(of packages: Set<String>, in edition: CatalogEdition)
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
    /// - Parameter edition: The edition; the main one stands for every edition.
    func withdraw(_ ids: [String], from edition: CatalogEdition) throws -> CatalogPruning
    /// Promotes packages of another catalog, or rolls packages back: all of them or none.
    func carryOut(_ order: CatalogOrder) throws -> CatalogPlan
    /// Removes versions beyond the newest `keep` of each package, and files that no list names.
    func prune(keep: Int) throws -> CatalogPruning
    /// The listed version of each package of an edition.
    func listedVersions(in edition: CatalogEdition) throws -> [String: Int32]
}

extension CatalogWriter {
    var listCost: Duration? { nil }

    func publishTogether(_ requests: [PublishRequest]) throws -> [Published] {
        throw CatalogError(.badRequest, "Packages of this coordinator cannot be published together.")
    }

    func wantsPatches(_ request: PublishRequest) -> Bool { false }

    func makePatches(_ requests: [PublishRequest]) {}

    func makeMissingPatches(of packages: Set<String>, in edition: CatalogEdition) {}

    func outlook(_ spec: JobSpec) throws(SubmitProblem) -> [String] { [] }

    func withdraw(_ ids: [String], from edition: CatalogEdition) throws -> CatalogPruning {
        throw CatalogError(.badRequest, "Packages of this coordinator cannot be withdrawn.")
    }

    func carryOut(_ order: CatalogOrder) throws -> CatalogPlan {
        throw CatalogError(.badRequest, "Packages of this coordinator cannot be promoted.")
    }

    func prune(keep: Int) throws -> CatalogPruning {
        throw CatalogError(.badRequest, "The catalog of this coordinator cannot be pruned.")
    }

    func listedVersions(in edition: CatalogEdition) throws -> [String: Int32] { [:] }
}

/// The catalogs of a coordinator by name; ``PublishOptions/mainCatalog`` always exists.
struct CatalogTable: Sendable {
    let main: any CatalogWriter
    /// Where the steps of jobs may push a catalog to.
    var pushPlaces = PushPlaces()
    private var others: [String: any CatalogWriter] = [:]

    init(main: any CatalogWriter, others: [String: any CatalogWriter] = [:], pushPlaces: PushPlaces = PushPlaces()) {
        self.main = main
        self.pushPlaces = pushPlaces
        self.others = others
    }

    /// Every name, the main catalog first.
    var names: [String] { [PublishOptions.mainCatalog] + others.keys.sorted() }

    /// - Throws: ``SubmitProblem`` `unknown-catalog` with the names that exist.
    func writer(named name: String) throws(SubmitProblem) -> any CatalogWriter {
        if name == PublishOptions.mainCatalog { return main }
        if let writer = others[name] { return writer }
        throw SubmitProblem(
            FailureCause.unknownCatalog.rawValue, "There is no catalog '\(name.prefix(80))'.",
            hint: "this coordinator has: \(names.joined(separator: ", "))")
    }

    /// The folder of the catalog that a job publishes into; that of the main one for an unknown job.
    func folder(of spec: JobSpec?) -> URL { (spec.flatMap { others[$0.publish.catalog] } ?? main).folder }

    /// Makes the patches of packages in their catalogs.
    func makePatches(_ requests: [PublishRequest]) {
        for (name, requests) in Dictionary(grouping: requests, by: \.options.catalog).sorted(by: { $0.key < $1.key }) {
            // Only packages of known catalogs were published.
            try? writer(named: name).makePatches(requests)
        }
    }

    /// The cause to report to the scheduler for an error of a writer, and whether waiting may resolve it.
    static func trouble(_ error: any Error) -> (trouble: Trouble, mayHeal: Bool) {
        switch error {
        // The merged package is damaged in the blob store. It is treated as missing, and the next merge makes it again.
        case let error as CatalogError where error.code == .badFile:
            (Trouble(cause: "blob-missing", detail: error.message), false)
        case let error as CatalogError:
            (Trouble(cause: "\(error.code)", detail: error.message), [.diskFull, .io].contains(error.code))
        // The next attempt completes the change: giving up would deny what is going to be listed.
        case let error as BegunChange: (Trouble(cause: "\(error.reason.code)", detail: error.reason.message), true)
        case let error as PackagesError:
            (Trouble(cause: "\(error.code)", detail: error.message), [.diskFull, .io].contains(error.code))
        case let error as StorageError:
            (Trouble(cause: "\(error.code)", detail: error.message), [.diskFull, .io].contains(error.code))
        case let error as SubmitProblem: (Trouble(cause: error.code, detail: "\(error.text) \(error.hint)"), false)
        default: (Trouble(cause: "internal", detail: "\(error)"), false)
        }
    }
}
