internal import OfflineMaps
internal import Synchronization

extension PackageManager {
    /// Translates an event of the store into calls of the listener.
    func handle(_ event: StoreEvent) async {
        guard case .task(let task) = event else { return }
        if task.kind == .list { return await notifyList(task) }
        for item in task.items {
            if case .style(let id) = item {
                await notifyStyle(id, task)
            } else if let id = names.id(of: item) {
                await notifyPackage(id, task)
            }
        }
        if PackageStatus(task) == nil { state.withLock { $0.reported[task.id] = nil } }
    }

    private var listener: (any PackageManagerListener)? { state.withLock { $0.listener } }

    private func notifyList(_ task: StoreTask) async {
        switch task.state {
        case .done: await listener?.onPackageListUpdated()
        case .failed, .cancelled: await listener?.onPackageListFailed()
        case .waiting, .downloading, .verifying, .installing, .removing, .paused: break
        }
    }

    private func notifyStyle(_ id: String, _ task: StoreTask) async {
        switch task.state {
        case .done: await listener?.onStyleUpdated(id)
        case .failed, .cancelled: await listener?.onStyleFailed(id)
        case .waiting, .downloading, .verifying, .installing, .removing, .paused: break
        }
    }

    private func notifyPackage(_ id: String, _ task: StoreTask) async {
        switch task.state {
        case .done:
            let version = await version(id, of: task)
            await listener?.onPackageUpdated(id, version: version)
        case .cancelled:
            let version = await version(id, of: task)
            await listener?.onPackageCancelled(id, version: version)
        case .failed(let cause):
            let version = await version(id, of: task)
            await listener?.onPackageFailed(id, version: version, errorType: PackageErrorType(cause))
        case .waiting, .downloading, .verifying, .installing, .removing, .paused:
            guard let status = PackageStatus(task) else { return }
            let version = await version(id, of: task)
            let isNew = state.withLock { state in
                state.versions[id] = version
                // As in the SDK, removals report no progress.
                if task.kind == .remove || state.reported[task.id] == status && task.items.count == 1 { return false }
                state.reported[task.id] = status
                return true
            }
            if isNew { await listener?.onPackageStatusChanged(id, version: version, status: status) }
        }
    }
}
