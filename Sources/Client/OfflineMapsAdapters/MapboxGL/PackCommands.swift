internal import OfflineMaps

/// What packs ask of the store, in the order of their calls.
final class PackCommands: Sendable {
    let store: MapStore
    let work = SerialWork()
    /// Reports that a pack may have changed; with a cause, that its download failed.
    private let report: @Sendable (RegionID, FailureCause?, _ always: Bool) async -> Void

    init(_ store: MapStore, _ report: @escaping @Sendable (RegionID, FailureCause?, _ always: Bool) async -> Void) {
        self.store = store
        self.report = report
    }

    func resume(_ pack: OfflinePack) {
        work.add { [self, id = pack.id] in
            do throws(StoreError) {
                try await resume(id)
                await report(id, nil, false)
            } catch { await report(id, error.failure ?? .internalError, false) }
        }
    }

    private func resume(_ id: RegionID) async throws(StoreError) {
        // The SDK has no other call that lets downloads begin.
        try await store.start()
        guard let task = try await task(of: id) else {
            _ = try await store.load(id)
            return
        }
        if case .failed = task.state { try await store.retry(task.id) }
        if task.priority < 0 { try await store.setPriority(0, of: task.id) }
    }

    func suspend(_ pack: OfflinePack) {
        work.add { [self, id = pack.id] in
            // The report that follows shows whether the pack is inactive now.
            if let task = try? await task(of: id) { try? await store.setPriority(-1, of: task.id) }
            await report(id, nil, false)
        }
    }

    func requestProgress(_ pack: OfflinePack) {
        work.add { [self, id = pack.id] in await report(id, nil, true) }
    }

    private func task(of id: RegionID) async throws(StoreError) -> StoreTask? {
        try await store.tasks().first {
            $0.items.contains(.region(id)) && !$0.state.isOver && [.load, .refresh].contains($0.kind)
        }
    }
}
