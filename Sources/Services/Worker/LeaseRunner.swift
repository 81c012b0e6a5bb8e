internal import Blobs
internal import Errors
internal import Files
internal import Foundation
internal import Logging
internal import Origins
internal import PackageFiles
internal import StyleFormat
internal import TileBodies
internal import Wire

/// Carries out any lease, and reports a failure with the coordinator's codes.
struct LeaseRunner: WorkRunner {
    private let fetcher: BatchFetcher
    private let merger: PackageMerger
    private let beforeMerge: @Sendable () -> Void

    init(
        store: any BlobStore, environment: [String: String], logger: Logger? = nil,
        budgets: WorkerBudgets = WorkerBudgets(), scratch: URL? = nil,
        beforeMerge: @escaping @Sendable () -> Void = {}
    ) {
        self.beforeMerge = beforeMerge
        let layers = LayerMemory()
        let origins = OriginCache(environment: environment, budgets: budgets, layers: layers)
        fetcher = BatchFetcher(store: store, origins: origins, layers: layers, logger: logger)
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
                beforeMerge()
                return .done(try await merger.run(work, job: offer.job, token: offer.token, meter))
            case nil:
                return .failed(WorkFailure(cause: .unsupported, detail: "The offer has no work.", retriable: false))
            }
        } catch {
            return Task.isCancelled || error is CancellationError ? .cancelled : .failed(Self.failure(error))
        }
    }

    /// The coordinator acts on some of these causes: after a local one this worker gets no offers for a while, and lost
    /// shards are fetched again.
    static func failure(_ error: any Error) -> WorkFailure {
        switch error {
        case let failure as WorkFailure: return failure
        case let error as OriginsError: return WorkFailure(error)
        case let error as StorageError:
            switch error.code {
            case .diskFull: return WorkFailure(cause: .diskFull, detail: error.message, retriable: true)
            case .io: return WorkFailure(cause: .inputOutput, detail: error.message, retriable: true)
            case .storeMissing: return WorkFailure(cause: .blobStore, detail: error.message, retriable: true)
            case .notAShard, .unsupportedVersion, .corrupt, .digestMismatch, .limitExceeded, .badTile, .missing,
                .misuse:
                return WorkFailure(cause: FailureCause(named: "\(error.code)"), detail: error.message, retriable: true)
            }
        case let error as PackagesError:
            switch error.code {
            case .diskFull: return WorkFailure(cause: .diskFull, detail: error.message, retriable: true)
            case .io: return WorkFailure(cause: .inputOutput, detail: error.message, retriable: true)
            case .badShard:
                return WorkFailure(
                    cause: .shardCorrupt, detail: error.message, retriable: true,
                    lostShards: error.shard.map { [$0] } ?? [])
            case .badSpec, .tooLarge, .missingTiles, .unsupported:
                return WorkFailure(cause: FailureCause(named: "\(error.code)"), detail: error.message, retriable: false)
            case .badPatch, .patchMismatch, .conflictingTiles, .verificationFailed, .database, .unknownFormat, .exists,
                .badSource, .busy:
                return WorkFailure(cause: FailureCause(named: "\(error.code)"), detail: error.message, retriable: true)
            }
        case let error as StylesError:
            switch error.code {
            case .diskFull: return WorkFailure(cause: .diskFull, detail: error.message, retriable: true)
            case .io: return WorkFailure(cause: .inputOutput, detail: error.message, retriable: true)
            case .badStyle, .badURL, .tooLarge, .hostRefused, .missingSecret:
                return WorkFailure(cause: .badStyle, detail: error.message, retriable: false)
            case .unreachable where error.isRefusal, .missingResource where error.isRefusal:
                return WorkFailure(cause: .badStyle, detail: error.message, retriable: false)
            case .unreachable, .missingResource, .badResource, .badPack, .exists:
                return WorkFailure(cause: .styleUnavailable, detail: error.message, retriable: true)
            }
        default: return disk(error) ?? WorkFailure(cause: .internal, detail: "\(error)", retriable: true)
        }
    }

    /// An error of the file system reported by Foundation: a fault of this machine, not of the work.
    private static func disk(_ error: any Error) -> WorkFailure? {
        guard let number = ((error as? CocoaError)?.underlying ?? error) as? POSIXError else { return nil }
        let isFull = number.code == .ENOSPC || number.code == .EDQUOT
        return WorkFailure(cause: isFull ? .diskFull : .inputOutput, detail: "\(error)", retriable: true)
    }
}
