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

    private struct State {
        /// Work that no queue has begun, oldest first.
        var waiting: [@Sendable (BodyChecker) -> Void] = []
        /// The numbers of the queues that have nothing to do.
        var idle: [Int]
    }

    private let queues: [WorkerQueue]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - limit: The largest body, packed or unpacked, in bytes.
    ///   - tileset: Which layers vector tiles keep, and what its pictures must be.
    ///   - layers: Numbers the layers of vector tiles; `nil` = they are not needed.
    ///   - takesAnyPicture: Whether pictures may be of another format than the declared one, as in archives.
    init(lanes: Int, limit: Int, _ tileset: Tileset, layers: LayerCache?, takesAnyPicture: Bool = false) {
        self.queues = (0..<max(1, lanes)).map {
            WorkerQueue($0, limit: limit, tileset, layers: layers, takesAnyPicture: takesAnyPicture)
        }
        state = Mutex(State(idle: Array(queues.indices)))
    }

    /// The threads of an archive.
    convenience init(_ tileset: Tileset, _ opening: SourceOpening, lanes: Int? = nil) {
        self.init(
            lanes: lanes ?? opening.lanes, limit: max(64 << 20, tileset.maxTileBytes), tileset,
            layers: opening.layers, takesAnyPicture: true)
    }

    /// Runs `work` with a checker on the first queue that is free.
    func run<T: Sendable>(_ work: @escaping @Sendable (BodyChecker) -> T) async -> T {
        await withCheckedContinuation { continuation in
            let free = state.withLock { state -> Int? in
                state.waiting.append { continuation.resume(returning: work($0)) }
                return state.idle.popLast()
            }
            if let free { queues[free].queue.async { self.work(on: free) } }
        }
    }

    /// Does what waits, until nothing does.
    private func work(on number: Int) {
        while true {
            let next = state.withLock { state -> (@Sendable (BodyChecker) -> Void)? in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.idle.append(number)
                return nil
            }
            guard let next else { return }
            next(queues[number].checker)
        }
    }
}
