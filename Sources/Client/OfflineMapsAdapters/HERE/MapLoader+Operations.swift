internal import OfflineMaps
internal import Synchronization

extension MapLoader {
    typealias Notification = @Sendable (MapLoader, (any MapLoaderDelegate)?, MapLoaderResult) async -> Void

    /// Begins an operation, unless one runs.
    ///
    /// At its end the tree is read, then the delegate gets the result.
    func begin(_ work: @escaping @Sendable (LoaderOperation) async -> MapLoaderResult, notify: @escaping Notification)
        -> Bool
    {
        let operation = LoaderOperation(store)
        let isFree = state.withLock { state in
            guard state.operation == nil else { return false }
            state.operation = operation
            return true
        }
        guard isFree else { return false }
        Task {
            // The SDK has no call for it.
            var result = await Self.result { () async throws(StoreError) in try await store.start() }
            // What was selected before counts for this operation.
            await selections.finish()
            if result == .success { result = await work(operation) }
            let end = operation.isCancelled && result != .success ? .operationCancelled : result
            await readTree()
            // A delegate that gets the result can begin the next operation.
            let delegate = state.withLock { state in
                state.operation = nil
                return state.delegate
            }
            await notify(self, delegate, end)
        }
        return true
    }

    /// Reports the progress of an operation to the delegate, 0...1.
    func reportProgress(_ progress: Float) async {
        let delegate = state.withLock { $0.delegate }
        await delegate?.mapLoader(self, didUpdateProgress: progress)
    }

    /// The result of calls of the store.
    static func result(_ calls: () async throws(StoreError) -> Void) async -> MapLoaderResult {
        do throws(StoreError) {
            try await calls()
            return .success
        } catch { return MapLoaderResult(error) }
    }

    /// Makes the tree of the catalog and of what is installed now.
    func readTree() async {
        guard let root = await store.catalog?.root else { return }
        var whole: [PackageKey: Bool] = [:]
        // A store that cannot be read shows nothing as installed; the operation reports its error.
        for installed in (try? await store.installed()) ?? [] {
            guard case .package(let id, let edition, _) = installed.item else { continue }
            // Removed between the two calls: the next tree is without it.
            whole[PackageKey(id: id, edition: edition)] = (try? await store.status(of: installed.item))?.isWhole ?? true
        }
        let snapshot = MapPackage.Snapshot(root, language: language) { package in
            whole[PackageKey(id: package.id, edition: package.edition)]
        }
        state.withLock { $0.root = MapPackage(root, snapshot) }
    }

    private struct PackageKey: Hashable {
        var id: String
        var edition: Edition
    }

    /// The items of packages, each once.
    static func items(_ packages: [MapPackage]) -> [Item] {
        var seen: Set<Item> = []
        return packages.flatMap(\.parts).map { Item.package($0.id, $0.edition) }.filter { seen.insert($0).inserted }
    }

    static func find(_ package: String, in root: MapPackage) -> MapPackage? {
        if root.node.package?.id == package { return root }
        return root.children.lazy.compactMap { find(package, in: $0) }.first
    }

    /// Tells the delegate of the network while an operation runs.
    func handle(_ event: StoreEvent) async {
        let (delegate, isBusy) = state.withLock { ($0.delegate, $0.operation != nil) }
        guard isBusy else { return }
        switch event {
        case .connectionLost: await delegate?.mapLoaderDidLoseConnection(self)
        case .connectionFound: await delegate?.mapLoaderDidFindConnection(self)
        case .catalogUpdated, .catalogFailed, .task, .regions, .installed, .removed, .evicted, .limitReached, .damaged:
            break
        }
    }
}

extension Status {
    /// Whether the item is installed with everything that is selected, and undamaged.
    var isWhole: Bool { installed != nil && !isDamaged && missingGroups.isEmpty }
}
