import Scheduling
import Tiles
import Wire

extension WireConversions {
    static func failedBatch(_ batch: StateStore.FailedBatch) -> PBFailedBatch {
        .make {
            $0.job = batch.job.rawValue
            $0.batch = UInt64(batch.index.number)
            $0.cell = PBTile(batch.cell)
            $0.zoomMin = UInt32(batch.zooms.min)
            $0.zoomMax = UInt32(batch.zooms.max)
            $0.tiles = batch.tiles
            $0.cause = batch.trouble.cause
            $0.detail = batch.trouble.detail
            $0.attempts = UInt32(batch.attempts)
            $0.losses = UInt32(batch.losses)
            $0.whole = batch.isWhole
            $0.failures = batch.failures.map(failure)
        }
    }
}
