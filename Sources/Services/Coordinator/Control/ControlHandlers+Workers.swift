import Logging
import Scheduling
import Telemetry
import Wire

extension ControlHandlers {
    /// Asks workers to finish and leave, or cancels that request.
    ///
    /// Applies to all workers with this name or pid@host.
    func drain(_ body: PBDrainWorker, _ replyAddress: ReplyAddress) {
        let meant = state.scheduler.workers(now: environment.now).filter {
            $0.profile.name == body.name || "\($0.profile.processID)@\($0.profile.host)" == body.name
        }
        guard !meant.isEmpty else {
            state.reply(
                WireConversions.problem(
                    "unknown-worker", "No worker is called '\(body.name.prefix(128))'.",
                    hint: "packhorse workers lists them"), to: replyAddress)
            return
        }
        for worker in meant { state.handle(.drain(worker.session, isOn: !body.undo)) }
        environment.logger.notice(
            body.undo ? "Workers stay" : "Workers drain",
            metadata: [LogKey.worker: "\(body.name)", LogKey.workers: "\(meant.count)"])
        let leases = meant.reduce(0) { $0 + $1.leases }
        state.reply(
            .ordered(
                .make {
                    $0.changed = UInt64(meant.count)
                    $0.text = body.undo ? "stays" : leases == 0 ? "leaves" : "leaves after \(leases) leases"
                }), to: replyAddress)
    }
}
