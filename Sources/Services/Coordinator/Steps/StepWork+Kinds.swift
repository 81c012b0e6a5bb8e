import Catalog
import CatalogFormat
import CatalogTransfer
import Errors
import Files
import Foundation
internal import TextFormats

/// The rows of the kinds of steps.
extension StepWork {
    /// Repeated, it sends what the target does not have, and the lists.
    static func push(_ text: String) -> StepWork {
        StepWork { _, catalogs throws(SubmitProblem) in
            _ = try place(text, catalogs)
        } run: { order in
            let catalogs = order.environment.catalogs
            let folder = try order.writer.folder
            let target = try catalogs.pushPlaces.target(try place(text, catalogs))
            for attempt in 1... {
                do {
                    let push = CatalogPush(source: try CatalogSource(folder.path), folder: folder, target: target)
                    let done = try await push.run(dryRun: false, prune: false) { _ in }
                    return
                        "\(Units.count(done.sent.count, of: "file")), \(Units.bytes(done.bytes)), sent; \(Units.count(done.skipped, of: "file")) existed already"
                } catch let error as CatalogTransferError where error.code == .changed && attempt < Self.changes {
                    // Something was published meanwhile; what was sent is not sent again.
                    try Task.checkCancellation()
                }
            }
            return ""
        }
    }

    /// How often a step begins again at once because the catalog changed under it.
    private static let changes = 10

    private static func place(_ text: String, _ catalogs: CatalogTable) throws(SubmitProblem) -> PushPlace {
        let place: PushPlace
        do throws(CatalogTransferError) { place = try catalogs.pushPlaces.place(text) } catch {
            throw SubmitProblem(
                "bad-request", "Step 'push=\(text.prefix(200))': \(Sentence.inner(error.message)).",
                hint: error.hint ?? "")
        }
        for name in catalogs.names where place.isNested(with: try catalogs.writer(named: name).folder) {
            throw SubmitProblem(
                "bad-request",
                "Step 'push=\(text.prefix(200))': this folder and that of catalog '\(name)' are nested in each other.",
                hint: "push to another folder")
        }
        return place
    }

    /// Repeated, it finds nothing to remove.
    static func prune(_ keep: Int) -> StepWork {
        StepWork { _, _ throws(SubmitProblem) in
        } run: { order in
            let writer = try order.writer
            let done = try await order.environment.executor.value(on: .catalog) {
                try await FileWork.run { try writer.prune(keep: keep) }
            }
            return
                "\(Units.count(done.versions.count, of: "version")), \(Units.count(done.files.count, of: "file")), \(Units.bytes(done.bytes)), removed"
        }
    }

    /// It changes nothing.
    static var verify: StepWork {
        StepWork { _, _ throws(SubmitProblem) in
        } run: { order in
            let options = order.environment.options
            let (folder, key) = (try order.writer.folder, try options.signingKey?.publicKey)
            let index = folder.appending(path: CatalogIndex.fileName)
            for attempt in 1... {
                let before = try Data(contentsOf: index)
                do { return try await options.verifyCatalog(folder, key) } catch {
                    // A file that a publication removed meanwhile is not missing.
                    guard attempt < Self.changes, try Data(contentsOf: index) != before else { throw error }
                    try Task.checkCancellation()
                }
            }
            return ""
        }
    }

    /// Repeated, it finds the packages in the other catalog.
    static func promote(_ name: String) -> StepWork {
        StepWork { catalog, catalogs throws(SubmitProblem) in
            _ = try catalogs.writer(named: name)
            guard name != catalog else {
                throw SubmitProblem(
                    "bad-request", "Step 'promote=\(name)': the packages are in catalog '\(name)' already.",
                    hint: "submit into another catalog with --into")
            }
        } run: { order in
            // Without a name a promotion would be of everything.
            guard !order.versions.isEmpty else { return "the job has no packages" }
            let (staging, executor) = (try order.writer, order.environment.executor)
            let live = try order.environment.catalogs.writer(named: name)
            let plan = try await executor.value(on: .catalog) {
                try await FileWork.run {
                    try checkVersions(order, staging)
                    return try live.carryOut(promotion(order, from: staging.folder))
                }
            }
            guard !plan.isEmpty else { return "catalog '\(name)' has these packages already" }
            // Writers log the errors of patches and throw none.
            try await executor.value(on: .patches) { try await FileWork.run { live.makePatches(plan.requests) } }
            return "\(Units.count(plan.requests.count, of: "package")) promoted into catalog '\(name)'"
        }
    }

    private static func promotion(_ order: StepOrder, from staging: URL) -> CatalogOrder {
        let publish = order.publish
        var promotion = CatalogOrder(
            .promotion(
                from: staging, maxShrink: publish.allowsShrink ? 1 : CatalogDifference.usualShrinkage),
            of: CatalogSelection(order.versions.keys.sorted(), edition: publish.edition))
        (promotion.replacesTileset, promotion.replacesArea) = (publish.replacesTileset, publish.replacesArea)
        return promotion
    }

    /// Refuses to promote what another job, or a person, has published since.
    ///
    /// After a promotion the catalog has versions of its own.
    private static func checkVersions(_ order: StepOrder, _ staging: any CatalogWriter) throws {
        guard try staging.folder == order.environment.catalogs.writer(named: order.publish.catalog).folder else {
            return
        }
        let listed = try staging.listedVersions(in: order.publish.edition)
        for (id, version) in order.versions.sorted(by: { $0.key < $1.key }) where listed[id] != version {
            let now = listed[id].map { "version \($0)" } ?? "no version"
            throw StepProblem(
                "package-superseded",
                "the catalog lists \(now) of package '\(id)', and this job published version \(version); promote it by hand: packhorse catalog promote"
            )
        }
    }
}
