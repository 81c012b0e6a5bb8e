import Dispatch
import Synchronization
import TileBodies

/// Runs blocking work (decompressing, scanning, reading files) on its own threads, off the cooperative pool.
final class BodyCheckPool: Sendable {
    /// One serial queue, with a checker that only its work uses.
    private final class WorkerQueue: @unchecked Sendable {  // `checker` is used on `queue` alone.
        let queue: DispatchQueue
        let checker: BodyChecker

        init(
            _ number: Int, limit: Int, layers: LayerCache?, choice: LayerChoice?, takesAnyPicture: Bool,
            refusal: BodyChecker.Refusal?
        ) {
            queue = DispatchQueue(label: "packhorse.body-check.\(number)")
            checker = BodyChecker(
                limit: limit, layers: layers, choice: choice, takesAnyPicture: takesAnyPicture, refusal: refusal)
        }
    }

    private let queues: [WorkerQueue]
    private let next = Atomic<Int>(0)

    /// - Parameters:
    ///   - limit: The largest body, packed or unpacked, in bytes.
    ///   - layers: Numbers the layers of vector tiles; `nil` = they are not needed.
    ///   - choice: The layers that vector tiles keep; `nil` = all.
    ///   - takesAnyPicture: Whether pictures may be of another format than the declared one, as in archives.
    ///   - refusal: Judges bodies that the tileset lists; `nil` = it lists none.
    init(
        lanes: Int, limit: Int, layers: LayerCache?, choice: LayerChoice?, takesAnyPicture: Bool = false,
        refusal: BodyChecker.Refusal?
    ) {
        self.queues = (0..<max(1, lanes)).map {
            WorkerQueue(
                $0, limit: limit, layers: layers, choice: choice, takesAnyPicture: takesAnyPicture, refusal: refusal)
        }
    }

    /// Runs `work` on one of the worker queues with its checker.
    func run<T: Sendable>(_ work: @escaping @Sendable (BodyChecker) -> T) async -> T {
        let worker = queues[(next.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max) % queues.count]
        return await withCheckedContinuation { continuation in
            worker.queue.async { continuation.resume(returning: work(worker.checker)) }
        }
    }
}
