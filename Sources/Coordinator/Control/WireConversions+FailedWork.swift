import Scheduling
import Tiles
import Wire

extension WireConversions {
    static func letter(_ letter: StateStore.Letter) -> PBDeadLetter {
        .make {
            $0.job = letter.job
            $0.batch = UInt64(letter.index)
            $0.cell = PBTile(letter.cell)
            $0.zoomMin = UInt32(letter.zooms.min)
            $0.zoomMax = UInt32(letter.zooms.max)
            $0.tiles = letter.tiles
            $0.cause = letter.trouble.cause
            $0.detail = letter.trouble.detail
            $0.attempts = UInt32(letter.attempts)
            $0.losses = UInt32(letter.losses)
            $0.whole = letter.isWhole
            $0.failures = letter.failures.map(failure)
        }
    }
}
