import Catalog
import Digests
import Logging
import Scheduling
import Telemetry

/// Runs the steps after jobs, one at a time for all jobs.
///
/// A step is marked as running durably before it begins, and as done or failed after its end. One that was running when the
/// coordinator ended runs again: each step gives the same result when it is repeated (docs/decisions/0100).
final class StepRunner {
    private let state: CoordinatorState
    private var isRunning = false

    init(_ state: CoordinatorState) { self.state = state }

    private var pauses: [Int64] { state.environment.options.stepPauses.map { Int64($0 * 1_000) } }

    /// Starts the next step when its row is durable, unless one runs.
    func startDue() {
        let environment = state.environment
        guard !isRunning, let step = state.steps.due(wall: environment.wall, longest: pauses.max() ?? 0),
            let spec = state.jobs.spec(of: step.job), spec.publish.then.indices.contains(step.number - 1)
        else { return }
        isRunning = true
        state.collect([.store(.step(step.begun))])
        var versions: [String: Int32] = [:]
        var digests: [String: Digest] = [:]
        for package in state.scheduler.packages(of: step.job) where package.state.isPublished {
            versions[package.id] = Int32(clamping: package.version)
            digests[package.id] = package.merged?.digest
        }
        let order = StepOrder(
            publish: spec.publish, number: step.number, versions: versions, digests: digests, environment: environment)
        state.tick.tasks.append(
            .run(.steps) {
                do {
                    return .stepEnded(step.job, number: step.number, .success(try await StepWork.run(order)))
                } catch is CancellationError {
                    return .stepEnded(step.job, number: step.number, nil)
                } catch {
                    return .stepEnded(step.job, number: step.number, .failure(StepProblem(error)))
                }
            })
    }

    /// Notes the end of a step; one that was interrupted stays as it is, and is repeated at the next start.
    func ended(_ job: JobID, number: Int, _ result: Result<String, StepProblem>?) {
        isRunning = false
        let wall = state.environment.wall
        // The job may have been forgotten.
        let step = state.steps.all(of: job).first { $0.number == number && $0.state == .running }
        guard let result, let step else { return }
        var metadata: Logger.Metadata = [LogKey.job: "\(job)", LogKey.order: "\(step.text)"]
        switch result {
        case .success(let text):
            state.collect([.store(.step(step.done(text, wall: wall)))])
            metadata[LogKey.result] = "\(text)"
            state.environment.logger.notice("Step after a job done", metadata: metadata)
        case .failure(let problem):
            let pause = problem.mayHeal ? pauses.dropFirst(Int(step.attempts)).first : nil
            state.collect([
                .store(
                    .step(
                        step.failed(
                            problem.cause, problem.text, exitStatus: problem.status, retryAt: pause.map { wall + $0 },
                            wall: wall)))
            ])
            metadata[LogKey.errorCode] = "\(problem.cause)"
            metadata[LogKey.errorMessage] = "\(problem.text)"
            if pause == nil {
                state.environment.logger.warning("Step after a job failed", metadata: metadata)
            } else {
                state.environment.logger.info("Step after a job failed and is tried again", metadata: metadata)
            }
        }
    }
}
