import Foundation
import Logging
import Scheduling
import Telemetry
import Wire

/// Carries out the requests of the control endpoint.
///
/// Handlers change the state and add answers to the tick. What must read the state file runs in the background; its
/// report continues the request.
final class ControlHandlers {
    let environment: LoopEnvironment
    let state: CoordinatorState
    let health: HealthReporter
    /// Requests for events that wait.
    var subscriptions = EventSubscriptions()
    /// Ended jobs whose batches are being changed outside of the loop.
    var changingJobs: Set<JobID> = []
    /// Orders for failed work of unfinished jobs that are carried out in slices, oldest first.
    var failedWorkOrders: [FailedWorkOrder] = []
    /// Look-ups of newest builds that failed.
    var lookups = FailedLookups()
    /// When the schedules were last checked.
    var lastScheduleCheck = Tick(milliseconds: -1_000)

    init(_ state: CoordinatorState, _ health: HealthReporter) {
        self.state = state
        self.health = health
        environment = state.environment
    }

    /// Answers a frame of the control endpoint, now or when its background work has ended.
    func handle(_ frame: Frame, _ replyAddress: ReplyAddress) {
        switch frame.message {
        case .ping:
            let answer = environment.frame(
                health.report(), to: replyAddress.peer, session: replyAddress.session, re: replyAddress.seq)
            if let answer { state.tick.urgentFrames.append(answer) }
        case .submit(let body): submit(body, replyAddress)
        case .listJobs(let body): listJobs(body, replyAddress)
        case .getJob(let body): getJob(body, replyAddress)
        case .cancelJob(let body): cancel(JobID(body.job), replyAddress)
        case .drainWorker(let body): drain(body, replyAddress)
        case .listOrigins: state.reply(origins(), to: replyAddress)
        case .originOrder(let body): order(body, replyAddress)
        case .listWorkers:
            let workers = state.scheduler.workers(now: environment.now).map(WireConversions.status)
            state.reply(.workers(.make { $0.workers = workers }), to: replyAddress)
        case .jobOrder(let body): order(body, replyAddress)
        case .listFailed(let body): listFailedWork(body, replyAddress)
        case .failedOrder(let body): state.tick.tasks.append(.failedWorkOrder(replyAddress, body))
        case .putSchedule(let body): put(body.schedule, replyAddress)
        case .scheduleOrder(let body): order(body, replyAddress)
        case .listSchedules: state.reply(schedules(), to: replyAddress)
        case .getSchedule(let body): readSchedule(body, replyAddress)
        case .getEvents(let body): readEvents(body, replyAddress)
        case .backup(let body): backUp(body, replyAddress)
        case .getCoverage(let body): coverage(body, replyAddress)
        case .withdraw(let body): withdraw(body, replyAddress)
        case .changeCatalog(let body): changeCatalog(body, replyAddress)
        case .compareCatalogs(let body): compareCatalogs(body, replyAddress)
        default:
            let text = "A \(frame.message.type) message does not belong on the control endpoint."
            state.reply(WireConversions.problem("bad-request", text), to: replyAddress)
        }
    }

    private func cancel(_ job: JobID, _ replyAddress: ReplyAddress) {
        guard state.scheduler.summary(of: job) != nil else {
            return state.reply(WireConversions.problem(.unknown(job)), to: replyAddress)
        }
        state.handle(.cancel(job))
        state.reply(.done(PBDone()), to: replyAddress)
    }

    /// Adds the answer to an order to the tick.
    func ordered(changed: Int, _ text: String, warnings: [String] = [], _ replyAddress: ReplyAddress) {
        state.reply(
            .ordered(
                .make {
                    $0.changed = UInt64(changed)
                    $0.text = text
                    $0.warnings = warnings
                }), to: replyAddress)
    }

    /// Reads the state file in the background when the writes of this tick are durable.
    ///
    /// - Parameter subject: What cannot be read after an error, as the subject of a sentence.
    func query(
        _ replyAddress: ReplyAddress, about subject: String,
        _ read: @escaping @Sendable (StateStore) async throws -> Report?
    ) {
        state.tick.tasks.append(
            .run(.queries) { [store = environment.store] in
                do {
                    return try await read(store)
                } catch {
                    let text = "\(subject) cannot be read: \(error)"
                    return .answer(replyAddress, WireConversions.problem("degraded", text, retriable: true))
                }
            })
    }

    /// The same when the result is the answer.
    func answer(
        _ replyAddress: ReplyAddress, about subject: String,
        _ read: @escaping @Sendable (StateStore) async throws -> Message
    ) {
        query(replyAddress, about: subject) { store in .answer(replyAddress, try await read(store)) }
    }
}
