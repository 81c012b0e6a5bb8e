import Foundation
import Scheduling
import Tiles
import Wire

extension ControlHandlers {
    /// Answers with the cells of a job's batches.
    func coverage(_ body: PBGetCoverage, _ replyAddress: ReplyAddress) {
        let id = JobID(body.job)
        let size = body.size == 0 ? CoverageBand.largestSize : min(Int(body.size), CoverageBand.largestSize)
        guard let bands = state.scheduler.coverage(of: id, size: size) else {
            return state.reply(WireConversions.problem(.unknown(id)), to: replyAddress)
        }
        state.reply(.coverage(.make { $0.bands = bands.map(WireConversions.band) }), to: replyAddress)
    }
}

extension WireConversions {
    static func band(_ band: CoverageBand) -> PBCoverageBand {
        .make {
            $0.zoomMin = UInt32(band.zooms.min)
            $0.zoomMax = UInt32(band.zooms.max)
            $0.cellZoom = UInt32(band.cellZoom)
            $0.shift = UInt32(band.shift)
            $0.x = UInt32(band.x)
            $0.y = UInt32(band.y)
            $0.width = UInt32(band.width)
            $0.height = UInt32(band.height)
            $0.cells = Data(band.cells)
        }
    }
}
