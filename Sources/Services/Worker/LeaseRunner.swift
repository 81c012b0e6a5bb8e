internal import Blobs
internal import Errors
internal import Foundation
internal import Logging
internal import TileBodies
internal import Wire

/// Carries out any lease, and reports a failure with the coordinator's codes.
struct LeaseRunner: WorkRunner {
    private let fetcher: BatchFetcher
    private let merger: PackageMerger
    private let beforeMerge: @Sendable () -> Void
    private let pace = MergePace()

    init(
        store: any BlobStore, environment: [String: String], logger: Logger? = nil,
        budgets: WorkerBudgets = WorkerBudgets(), scratch: URL? = nil,
        beforeMerge: @escaping @Sendable () -> Void = {}, metrics: WorkerMetrics = WorkerMetrics()
    ) {
        let store = CountedBlobStore(store, metrics)
        self.beforeMerge = beforeMerge
        let layers = LayerCache()
        let origins = OriginCache(environment: environment, budgets: budgets, layers: layers, metrics: metrics)
        fetcher = BatchFetcher(store: store, origins: origins, layers: layers, logger: logger, metrics: metrics)
        let styles = StylePacks(
            in: scratch ?? FileManager.default.temporaryDirectory.appending(path: "packhorse"))
        merger = PackageMerger(
            store: store, exporter: PackageExporter(store: store, styles: styles, environment: environment),
            layers: layers)
    }

    func run(_ offer: PBOffer, _ meter: WorkMeter) async -> WorkOutcome {
        await WorkMeter.$current.withValue(meter) { await work(offer, meter) }
    }

    private func work(_ offer: PBOffer, _ meter: WorkMeter) async -> WorkOutcome {
        do {
            switch offer.work {
            case .fetch(let work):
                return .done(try await fetcher.run(work, token: offer.token, meter))
            case .merge(let work):
                if pace.isDue() { beforeMerge() }
                return .done(try await merger.run(work, job: offer.job, token: offer.token, meter))
            case nil:
                return .failed(WorkFailure(cause: .unsupported, detail: "The offer has no work.", retriable: false))
            }
        } catch {
            return Task.isCancelled || error is CancellationError ? .cancelled : .failed(Self.failure(error))
        }
    }
}
