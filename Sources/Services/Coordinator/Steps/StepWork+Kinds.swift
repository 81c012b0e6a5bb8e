import Catalog
import CatalogFormat
import CatalogTransfer
import Errors
import Files
import Foundation
import Logging
import Telemetry
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
            let source = try CatalogSource(folder.path)
            return try await whileChanging(folder) {
                let done = try await CatalogPush(source: source, folder: folder, target: target)
                    .run(dryRun: false, prune: false) { _ in }
                for warning in done.warnings {
                    order.environment.logger.warning(
                        "Catalog pushed with a warning",
                        metadata: [LogKey.order: "push=\(text)", LogKey.reason: "\(warning)"])
                }
                return
                    "\(Units.count(done.sent.count, of: "file")), \(Units.bytes(done.bytes)), sent; \(Units.count(done.skipped, of: "file")) existed already"
            }
        }
    }

    /// Begins again at once when an attempt failed and the catalog has changed meanwhile: a publication may have removed a file
    /// that was being read.
    private static func whileChanging(
        _ folder: URL, _ attempt: @Sendable () async throws -> String
    ) async throws -> String {
        let index = folder.appending(path: CatalogIndex.fileName)
        for _ in 1..<changes {
            let before = try Data(contentsOf: index)
            do { return try await attempt() } catch {
                guard !(error is CancellationError), try Data(contentsOf: index) != before else { throw error }
                try Task.checkCancellation()
            }
        }
        return try await attempt()
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
            return try await whileChanging(folder) { try await options.verifyCatalog(folder, key) }
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
                try await FileWork.run { () throws -> CatalogPlan? in
                    guard try !isSuperseded(order, in: staging, live: live) else { return nil }
                    return try live.carryOut(promotion(order, from: staging.folder))
                }
            }
            // Also those that a kill after the promotion has prevented. Writers log the errors of patches and throw none.
            try await executor.value(on: .patches) {
                try await FileWork.run {
                    live.makeMissingPatches(of: Set(order.versions.keys), in: order.publish.edition)
                }
            }
            guard let plan, !plan.isEmpty else { return "catalog '\(name)' has these packages already" }
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

    /// Whether another job, or a person, has published since, and what this job published is promoted already.
    ///
    /// Refuses to promote what another job has published. After a promotion the catalog has versions of its own.
    private static func isSuperseded(
        _ order: StepOrder, in staging: any CatalogWriter, live: any CatalogWriter
    ) throws -> Bool {
        let (own, edition) = (
            try order.environment.catalogs.writer(named: order.publish.catalog), order.publish.edition
        )
        guard staging.folder == own.folder else { return false }
        let listed = try staging.listedVersions(in: edition)
        let other = order.versions.sorted { $0.key < $1.key }.first { listed[$0.key] != $0.value }
        guard let other else { return false }
        let isPromoted = try order.versions.keys.allSatisfy { id in
            try order.digests[id].map { try live.held(id, edition)[$0] != nil } ?? false
        }
        guard !isPromoted else { return true }
        let now = listed[other.key].map { "version \($0)" } ?? "no version"
        throw StepProblem(
            "package-superseded",
            "the catalog lists \(now) of package '\(other.key)', and this job published version \(other.value); promote it by hand: packhorse catalog promote"
        )
    }
}
