internal import Logging
internal import Telemetry

/// Looks from time to time whether another address has a coordinator of a higher epoch, and at once when the present one is lost.
struct CoordinatorSearch: Sendable {
    let link: CoordinatorLink
    let shell: WorkerShell
    let logger: Logger
    /// Between two looks, while the coordinator answers, and while it does not.
    let interval: (answering: Duration, lost: Duration)

    /// Runs until the worker ends or the task is cancelled.
    func run() async -> (any Error)? {
        var left = interval.answering
        while await shell.end == nil {
            do { try await Task.sleep(for: interval.lost) } catch { return error }
            let standing = await shell.standing
            left -= interval.lost
            guard standing.isLost || left <= .zero else { continue }
            // Not all workers at the same moment.
            left = interval.answering * Double.random(in: 0.8...1.2)
            if let address = await link.look(heard: standing.epoch, isLost: standing.isLost) {
                logger.notice(
                    "Connects to another coordinator: it has a higher epoch, or the present one does not answer",
                    metadata: [LogKey.endpoint: "\(address)"])
            }
        }
        return nil
    }
}
