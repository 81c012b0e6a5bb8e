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
    /// When the schedules were last checked.
    var lastScheduleCheck = Tick(milliseconds: -1_000)

    init(_ state: CoordinatorState, _ health: HealthReporter) {
        self.state = state
        self.health = health
        environment = state.environment
    }

    /// Answers a frame of the control endpoint, now or when its background work has ended.
    func handle(_ frame: Frame, _ asker: Asker) {
        switch frame.message {
        case .ping:
            let answer = environment.frame(health.report(), to: asker.peer, session: asker.session, re: asker.seq)
            if let answer { state.tick.urgentFrames.append(answer) }
        case .submit(let body): submit(body, asker)
        case .listJobs(let body): listJobs(body, asker)
        case .getJob(let body): getJob(body, asker)
        case .cancelJob(let body): cancel(JobID(body.job), asker)
        case .drainWorker(let body): drain(body, asker)
        case .listOrigins: state.reply(origins(), to: asker)
        case .originOrder(let body): order(body, asker)
        case .listWorkers:
            let workers = state.scheduler.workers(now: environment.now).map(WireConversions.status)
            state.reply(.workers(.make { $0.workers = workers }), to: asker)
        case .jobOrder(let body): order(body, asker)
        case .listFailed(let body): listFailedWork(body, asker)
        case .failedOrder(let body): state.tick.tasks.append(.failedWorkOrder(asker, body))
        case .putSchedule(let body): put(body.schedule, asker)
        case .dropSchedule(let body): dropSchedule(body.id, asker)
        case .listSchedules: state.reply(schedules(), to: asker)
        case .getEvents(let body): readEvents(body, asker)
        case .backup(let body): backUp(body, asker)
        case .getCoverage(let body): coverage(body, asker)
        case .withdraw(let body): withdraw(body, asker)
        default:
            let text = "A \(frame.message.type) message does not belong on the control endpoint."
            state.reply(WireConversions.problem("bad-request", text), to: asker)
        }
    }

    private func cancel(_ job: JobID, _ asker: Asker) {
        guard state.scheduler.summary(of: job) != nil else {
            return state.reply(WireConversions.problem(.unknown(job)), to: asker)
        }
        state.handle(.cancel(job))
        state.reply(.done(PBDone()), to: asker)
    }

    /// Adds the answer to an order to the tick.
    func ordered(changed: Int, _ text: String, _ asker: Asker) {
        state.reply(
            .ordered(
                .make {
                    $0.changed = UInt64(changed)
                    $0.text = text
                }), to: asker)
    }

    /// Reads the state file in the background when the writes of this tick are durable.
    ///
    /// - Parameter subject: What cannot be read after an error, as the subject of a sentence.
    func query(
        _ asker: Asker, about subject: String, _ read: @escaping @Sendable (StateStore) async throws -> Report?
    ) {
        state.tick.tasks.append(
            .run(.queries) { [store = environment.store] in
                do {
                    return try await read(store)
                } catch {
                    let text = "\(subject) cannot be read: \(error)"
                    return .answer(asker, WireConversions.problem("degraded", text, retriable: true))
                }
            })
    }

    /// The same when the result is the answer.
    func answer(
        _ asker: Asker, about subject: String, _ read: @escaping @Sendable (StateStore) async throws -> Message
    ) {
        query(asker, about: subject) { store in .answer(asker, try await read(store)) }
    }
}
