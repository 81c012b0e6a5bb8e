public import Foundation
internal import OfflineMaps
internal import Synchronization

extension PackageManager {
    /// Reads the list from the server, before ``start()`` as soon as that is called; the listener gets the result.
    ///
    /// Always `true`.
    @discardableResult
    public func startPackageListDownload() -> Bool {
        Task { await downloadList() }
        return true
    }

    private func downloadList() async {
        let wasStarted = state.withLock { $0.isStarted }
        do throws(StoreError) { _ = try await store.refreshCatalog(ifOlderThan: .zero) } catch {
            // The event of the list's task has the result when there was a task.
            guard error.failure == nil else { return }
            guard error.code == .wrongState else {
                await state.withLock { $0.listener }?.onPackageListFailed()
                return
            }
            let isStartedNow = state.withLock { state in
                state.isListWanted = wasStarted || !state.isStarted
                return !state.isListWanted
            }
            // Started between the two looks.
            if isStartedNow { await downloadList() }
        }
    }

    /// Downloads a package of the list, its newest version, or a box `bbox(west,south,east,north)`.
    ///
    /// - Returns: `false` when the list does not have the package, the box is invalid or too big, the catalog has no tile
    ///   packs for a box, or the task is refused.
    @discardableResult
    public func startPackageDownload(_ id: String) async -> Bool {
        if await serverPackage(id) != nil {
            return await accepts { try await self.store.install([self.names.item(id)]) }
        }
        guard let box = BoxID(id) else { return false }
        return await accepts { try await self.boxes.run(box) }
    }

    /// Takes a file of the device into the store; the package is there when the call returns.
    ///
    /// - Parameters:
    ///   - version: Not used: a file of the app has no version until the list has a newer one.
    ///   - file: The file, which stays where it is.
    /// - Returns: `false` when the store does not take the file.
    @discardableResult
    public func startPackageImport(_ id: String, version: Int32, file: URL) async -> Bool {
        let isTaken = await accepts {
            _ = try await self.store.adopt(file, as: self.names.item(id), by: .copy, replacing: true)
        }
        guard isTaken else { return false }
        let here = await localPackage(id)?.version ?? version
        await state.withLock { $0.listener }?.onPackageUpdated(id, version: here)
        return true
    }

    /// Removes an installed package or box, after all its other tasks were cancelled.
    ///
    /// - Returns: `false` when it is not installed.
    @discardableResult
    public func startPackageRemove(_ id: String) async -> Bool {
        guard await localPackage(id) != nil else { return false }
        // `remove` reports a store that cannot be read.
        let installed = ((try? await store.installed()) ?? []).map(\.item).filter { names.id(of: $0) == id }
        return await accepts { try await self.store.remove(installed.isEmpty ? [self.names.item(id)] : installed) }
    }

    /// Cancels all tasks of a package.
    public func cancelPackageTasks(_ id: String) async {
        // A task that has ended meanwhile needs no cancel.
        for task in await tasks(of: id) { try? await store.cancel(task.id) }
    }

    /// Sets the priority of the tasks that a package has now; below 0 they are paused, from 0 on they continue.
    public func setPackagePriority(_ id: String, _ priority: Int32) async {
        // A task that has ended meanwhile has no priority.
        for task in await tasks(of: id) { try? await store.setPriority(priority, of: task.id) }
    }

    /// Downloads a style of the list.
    ///
    /// - Returns: `false` when the list does not have the style.
    @discardableResult
    public func startStyleDownload(_ id: String) async -> Bool {
        guard await store.catalog?.styles.contains(where: { $0.id == id }) ?? false else { return false }
        return await accepts { try await self.store.install([.style(id)]) }
    }

    private func accepts(_ call: () async throws -> Void) async -> Bool {
        do {
            try await call()
            return true
        } catch { return false }
    }

    /// The tasks of a package, the oldest first.
    func tasks(of id: String) async -> [StoreTask] {
        // A store that cannot be read has none: the SDK's calls have no errors.
        ((try? await store.tasks()) ?? [])
            .filter { !$0.state.isOver && $0.items.contains { names.id(of: $0) == id } }
            .sorted { $0.id < $1.id }
    }

    /// The version that a task is about: the newest one for downloads, the installed one for the rest; 1 for a box.
    func version(_ id: String, of task: StoreTask) async -> Int32 {
        if BoxID(id) != nil { return 1 }
        switch task.kind {
        case .list, .install, .update, .load, .refresh:
            if let offered = await serverPackage(id)?.version { return offered }
        case .remove, .rollback: break
        }
        return await localPackage(id)?.version ?? state.withLock { $0.versions[id] } ?? 1
    }
}
