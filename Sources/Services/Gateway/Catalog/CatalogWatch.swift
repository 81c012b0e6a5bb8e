internal import CatalogFormat
internal import Errors
internal import Files
internal import Foundation
internal import Logging
internal import Synchronization
internal import Telemetry

/// Keeps the newest snapshot of a catalog.
///
/// It looks at the stamp of `catalog.json`, which is replaced after all that it names, once in a while and when a request asks for
/// what a new catalog could have (``catchUp()``). A changed catalog is read apart and then put in place at once. A catalog that cannot be
/// read leaves the last snapshot.
final class CatalogWatch: Sendable {
    /// What is served.
    struct State: Sendable {
        /// `nil` until the catalog was read.
        var snapshot: CatalogSnapshot?
        /// Why the catalog as it is now cannot be read; `nil` when it can.
        var problem: GatewayError?
        /// The number of the reading that found this.
        var turn = 0
    }

    /// How often the stamp is looked at.
    static let interval = Duration.milliseconds(500)

    private let folder: URL
    /// Of `catalog.json`.
    private let path: String
    private let logger: Logger
    private let state = Mutex(State())
    private let onChange: @Sendable (CatalogSnapshot) -> Void

    /// - Parameter onChange: Called with each new snapshot.
    init(_ folder: URL, logger: Logger, onChange: @escaping @Sendable (CatalogSnapshot) -> Void = { _ in }) {
        self.folder = folder
        path = folder.appendingPathComponent(CatalogIndex.fileName).path
        self.logger = logger
        self.onChange = onChange
    }

    /// The state now.
    var current: State { state.withLock { $0 } }

    /// The snapshot now.
    ///
    /// - Throws: ``Problem`` `catalog-away` when the catalog was never read.
    var snapshot: CatalogSnapshot {
        get throws(Problem) {
            guard let snapshot = current.snapshot else {
                throw Problem(.catalogAway, "The catalog was not read yet.", retryAfter: 2)
            }
            return snapshot
        }
    }

    /// Reads the catalog if it changed; a failed read is tried again at the next call.
    ///
    /// Of readings at the same time the one that began last counts.
    func refresh() async {
        let turn = turns.wrappingAdd(1, ordering: .relaxed).newValue
        let before = current
        let stamp = DocumentStamp(path: path)
        if before.problem == nil, before.snapshot != nil, stamp == seen.withLock({ $0 }) { return }
        do {
            let next = try await FileWork.run { [folder] in
                try CatalogSnapshot(try CatalogFolder(folder), earlier: before.snapshot)
            }
            let isNewest = state.withLock { state in
                guard turn > state.turn else { return false }
                state = State(snapshot: next, problem: nil, turn: turn)
                seen.withLock { $0 = stamp }
                return true
            }
            guard isNewest else { return }
            logger.info("Catalog read", metadata: [LogKey.path: "\(folder.path)"])
            onChange(next)
        } catch {
            failed.withLock { $0 = stamp }
            let problem = error as? GatewayError ?? GatewayError(.unreadable, "\(error)", cause: error)
            state.withLock { if turn > $0.turn { $0.problem = problem } }
            // While a catalog is being published its documents differ for a moment; that is worth a line only when it
            // stays so.
            guard before.problem?.message == problem.message else { return }
            logger.debug(
                "Catalog not readable",
                metadata: [LogKey.path: "\(folder.path)", LogKey.errorMessage: "\(problem.message)"])
        }
    }

    /// Reads the catalog when `catalog.json` is not that of the snapshot; returns whether it was.
    ///
    /// Requests at the same time share a reading. One that failed is not repeated here, but by the next ``refresh()``.
    @discardableResult
    func catchUp() async -> Bool {
        // A reading that another request began may have missed the change.
        for turn in 0..<2 {
            guard isBehind else { return turn > 0 }
            await reading.withLock { reading in
                let task =
                    reading
                    ?? Task {
                        await refresh()
                        self.reading.withLock { $0 = nil }
                    }
                reading = task
                return task
            }.value
        }
        return true
    }

    /// Whether `catalog.json` is another one than that of the snapshot, and was not read since.
    var isBehind: Bool {
        guard let stamp = DocumentStamp(path: path) else { return false }
        return stamp != seen.withLock { $0 } && stamp != failed.withLock { $0 }
    }

    private let seen = Mutex<DocumentStamp?>(nil)
    /// Of the catalog that could not be read.
    private let failed = Mutex<DocumentStamp?>(nil)
    private let reading = Mutex<Task<Void, Never>?>(nil)
    private let turns = Atomic<Int>(0)
}
