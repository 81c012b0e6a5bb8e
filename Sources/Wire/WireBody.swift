/// A message body that can be filled in one expression, so that its users need not import SwiftProtobuf.
public protocol WireBody {
    /// The body with all fields at their defaults.
    init()
}

extension WireBody {
    /// A body filled in by `fill`: `PBReady.make { $0.credit = 5 }`.
    public static func make(_ fill: (inout Self) throws -> Void) rethrows -> Self {
        var body = Self()
        try fill(&body)
        return body
    }
}

extension PBHello: WireBody {}
extension PBHeldLease: WireBody {}
extension PBReady: WireBody {}
extension PBProgress: WireBody {}
extension PBLeaseProgress: WireBody {}
extension PBCommit: WireBody {}
extension PBFetchResult: WireBody {}
extension PBTileFailure: WireBody {}
extension PBMergeResult: WireBody {}
extension PBFail: WireBody {}
extension PBReturn: WireBody {}
extension PBBye: WireBody {}
extension PBWelcome: WireBody {}
extension PBReject: WireBody {}
extension PBOffer: WireBody {}
extension PBFetchWork: WireBody {}
extension PBMergeWork: WireBody {}
extension PBMergeManifest: WireBody {}
extension PBPong: WireBody {}
extension PBAck: WireBody {}
extension PBStale: WireBody {}
extension PBUnknownSession: WireBody {}
extension PBSubmit: WireBody {}
extension PBPackageRequest: WireBody {}
extension PBRegionNode: WireBody {}
extension PBSubmitted: WireBody {}
extension PBListJobs: WireBody {}
extension PBJobs: WireBody {}
extension PBGetJob: WireBody {}
extension PBJobStatus: WireBody {}
extension PBPackageStatus: WireBody {}
extension PBCancelJob: WireBody {}
extension PBDone: WireBody {}
extension PBListWorkers: WireBody {}
extension PBWorkers: WireBody {}
extension PBWorkerStatus: WireBody {}
extension PBPing: WireBody {}
extension PBHealth: WireBody {}
extension PBHealthFinding: WireBody {}
extension PBProblem: WireBody {}
extension PBRateGrant: WireBody {}
extension PBRateGrants: WireBody {}
extension PBOriginUse: WireBody {}
extension PBHeldShare: WireBody {}
extension PBOriginLimit: WireBody {}
extension PBJobOrder: WireBody {}
extension PBListDead: WireBody {}
extension PBDeadLetters: WireBody {}
extension PBDeadLetter: WireBody {}
extension PBDeadOrder: WireBody {}
extension PBOrdered: WireBody {}
extension PBPutSchedule: WireBody {}
extension PBDropSchedule: WireBody {}
extension PBListSchedules: WireBody {}
extension PBSchedules: WireBody {}
extension PBSchedule: WireBody {}
extension PBListOrigins: WireBody {}
extension PBOrigins: WireBody {}
extension PBOriginStatus: WireBody {}
extension PBGetEvents: WireBody {}
extension PBEvents: WireBody {}
extension PBEventRecord: WireBody {}
extension PBBackup: WireBody {}
extension PBBackedUp: WireBody {}
extension PBDrainWorker: WireBody {}
extension PBOriginOrder: WireBody {}
extension PBPutBegin: WireBody {}
extension PBHave: WireBody {}
extension PBChunk: WireBody {}
extension PBPutEnd: WireBody {}
extension PBStored: WireBody {}
extension PBGet: WireBody {}
extension PBBlobSize: WireBody {}
extension PBBlobRefused: WireBody {}
extension PBLoggedChange: WireBody {}
extension PBLoggedJob: WireBody {}
extension PBLoggedPlan: WireBody {}
extension PBLoggedBatch: WireBody {}
extension PBLoggedPackage: WireBody {}
extension PBLoggedFailures: WireBody {}
extension PBLoggedBatches: WireBody {}
extension PBLoggedDrop: WireBody {}
extension PBLoggedSchedule: WireBody {}
extension PBPackageFile: WireBody {}
extension PBEdition: WireBody {}
extension PBTile: WireBody {}
extension PBBox: WireBody {}
