import Dispatch
import Synchronization
import TileBodies
import Tilesets

/// Runs blocking work (decompressing, scanning, reading files) on its own threads, off the cooperative pool.
final class BodyCheckPool: Sendable {
    /// One serial queue, with a checker that only its work uses.
    private final class WorkerQueue: @unchecked Sendable {  // `checker` is used on `queue` alone.
        let queue: DispatchQueue
        let checker: BodyChecker

        init(
            _ number: Int, limit: Int, _ tileset: Tileset, layers: LayerCache?, takesAnyPicture: Bool
        ) {
            queue = DispatchQueue(label: "packhorse.body-check.\(number)")
            checker = BodyChecker(
                limit: limit, layers: layers, choice: tileset.choice, takesAnyPicture: takesAnyPicture,
                refusal: tileset.refusal, pictures: tileset.pictures)
        }
    }

    private let queues: [WorkerQueue]
    private let next = Atomic<Int>(0)

    /// - Parameters:
    ///   - limit: The largest body, packed or unpacked, in bytes.
    ///   - tileset: Which layers vector tiles keep, and what its pictures must be.
    ///   - layers: Numbers the layers of vector tiles; `nil` = they are not needed.
    ///   - takesAnyPicture: Whether pictures may be of another format than the declared one, as in archives.
    init(lanes: Int, limit: Int, _ tileset: Tileset, layers: LayerCache?, takesAnyPicture: Bool = false) {
        self.queues = (0..<max(1, lanes)).map {
            WorkerQueue($0, limit: limit, tileset, layers: layers, takesAnyPicture: takesAnyPicture)
        }
    }

    /// The threads of an archive.
    convenience init(_ tileset: Tileset, _ opening: SourceOpening, lanes: Int? = nil) {
        self.init(
            lanes: lanes ?? opening.lanes, limit: max(64 << 20, tileset.maxTileBytes), tileset,
            layers: opening.layers, takesAnyPicture: true)
    }

    /// Runs `work` on one of the worker queues with its checker.
    func run<T: Sendable>(_ work: @escaping @Sendable (BodyChecker) -> T) async -> T {
        let worker = queues[(next.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max) % queues.count]
        return await withCheckedContinuation { continuation in
            worker.queue.async { continuation.resume(returning: work(worker.checker)) }
        }
    }
}
