internal import Errors
internal import Files
internal import Foundation
internal import Origins
internal import PackageFiles
internal import StyleFormat

/// The cause that is reported to the coordinator for each error of a lease.
///
/// An error code is not a cause: the same word may mean another thing. So each code is assigned here, one by one.
extension LeaseRunner {
    /// The failure that an error is reported as.
    ///
    /// The coordinator acts on some of these causes: after a local one this worker gets no offers for a while, and lost
    /// shards are fetched again.
    static func failure(_ error: any Error) -> WorkFailure {
        switch error {
        case let failure as WorkFailure: failure
        case let error as OriginsError: WorkFailure(error)
        case let error as StorageError: WorkFailure(cause: cause(error), detail: error.message, retriable: true)
        case let error as PackagesError:
            WorkFailure(
                cause: cause(error), detail: error.message, retriable: !isFinal(error),
                lostShards: error.code == .badShard ? error.shard.map { [$0] } ?? [] : [])
        case let error as StylesError: styleFailure(error)
        default: disk(error) ?? WorkFailure(cause: .internal, detail: "\(error)", retriable: true)
        }
    }

    private static func cause(_ error: StorageError) -> FailureCause {
        switch error.code {
        case .diskFull: .diskFull
        case .io: .inputOutput
        case .storeMissing: .blobStore
        case .notAShard: .notAShard
        case .unsupportedVersion: .unsupportedVersion
        case .corrupt: .corruptShard
        case .digestMismatch: .digestMismatch
        case .limitExceeded: .limitExceeded
        case .badTile: .badTile
        case .missing: .missingBlob
        case .misuse: .misuse
        }
    }

    private static func cause(_ error: PackagesError) -> FailureCause {
        switch error.code {
        case .diskFull: .diskFull
        case .io: .inputOutput
        case .badShard: .shardCorrupt
        case .badSpec: .badSpec
        case .tooLarge: .packageTooLarge
        case .missingTiles: .missingTiles
        case .unsupported: .unsupported
        case .conflictingTiles: .conflictingTiles
        case .verificationFailed: .verificationFailed
        case .database: .database
        case .badSource: .badSource
        // No work of a worker ends with these.
        case .badPatch, .patchMismatch, .unknownFormat, .exists, .busy: .internal
        }
    }

    /// Whether another attempt at the merge ends in the same way.
    private static func isFinal(_ error: PackagesError) -> Bool {
        switch error.code {
        case .badSpec, .tooLarge, .missingTiles, .unsupported: true
        case .diskFull, .io, .badShard, .badPatch, .patchMismatch, .conflictingTiles, .verificationFailed, .database,
            .unknownFormat, .exists, .badSource, .busy:
            false
        }
    }

    private static func styleFailure(_ error: StylesError) -> WorkFailure {
        switch error.code {
        case .diskFull: WorkFailure(cause: .diskFull, detail: error.message, retriable: true)
        case .io: WorkFailure(cause: .inputOutput, detail: error.message, retriable: true)
        case .badStyle, .badURL, .tooLarge, .hostRefused, .missingSecret:
            WorkFailure(cause: .badStyle, detail: error.message, retriable: false)
        case .unreachable where error.isRefusal, .missingResource where error.isRefusal:
            WorkFailure(cause: .badStyle, detail: error.message, retriable: false)
        case .unreachable, .missingResource, .badResource, .badPack, .exists:
            WorkFailure(cause: .styleUnavailable, detail: error.message, retriable: true)
        }
    }

    /// An error of the file system reported by Foundation: a fault of this machine, not of the work.
    private static func disk(_ error: any Error) -> WorkFailure? {
        guard let number = ((error as? CocoaError)?.underlying ?? error) as? POSIXError else { return nil }
        let isFull = number.code == .ENOSPC || number.code == .EDQUOT
        return WorkFailure(cause: isFull ? .diskFull : .inputOutput, detail: "\(error)", retriable: true)
    }
}
