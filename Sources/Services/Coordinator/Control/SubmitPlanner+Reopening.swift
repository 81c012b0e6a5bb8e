import Scheduling
import Wire

extension SubmitPlanner {
    /// The state from which a stored job continues.
    ///
    /// - Parameter permits: The retry with what it allows in addition. That is stored with the job, so that it survives a
    ///   restart.
    func reopening(
        _ payload: [UInt8], kept: [Batch]?, permits: PBJobOrder, wall: Int64
    ) throws(SubmitProblem) -> Reopening {
        let frame: Frame
        do { frame = try Frame(decoding: payload) } catch {
            throw SubmitProblem("internal", "The job's submission cannot be read: \(error)")
        }
        guard case .submit(var body) = frame.message else {
            throw SubmitProblem("internal", "The job's stored payload is not a Submit message.")
        }
        let publish = body.publish.permitting(permits)
        let isChanged = publish != body.publish
        body.publish = publish
        let changed = isChanged ? try Self.payload(body) : []
        if let kept {
            let spec = try JobSpec(body)
            return Reopening(
                spec: spec, batches: kept, needs: spec.needs(of: kept), isKept: true, payload: changed,
                mergesAll: permits.setsMaxFile)
        }
        let plan = try plan(body, wall: wall)
        let batches = plan.submission.batches.map(Batch.init)
        return Reopening(
            spec: plan.spec, batches: batches, needs: plan.spec.needs(of: batches), isKept: false, payload: changed,
            mergesAll: permits.setsMaxFile)
    }
}
