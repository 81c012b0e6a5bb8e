public import Foundation
public import OfflineMaps
internal import Synchronization

/// The offline storage of Mapbox GL, on a store.
///
/// It keeps no files and no tasks of its own: a pack is a region of the store, and regions that another part of the app
/// adds are packs too.
public final class OfflineStorage: Sendable {
    private struct State {
        var packs: [OfflinePack]?
        var watchers: [Int: AsyncStream<PackChange>.Continuation] = [:]
        var nextWatcher = 0
        /// Packs that are being removed.
        var leaving: Set<RegionID> = []
    }

    /// The store.
    public let store: MapStore
    private let state = Mutex(State())
    private let loop = EventLoop()
    private let commands: Mutex<PackCommands?> = Mutex(nil)
    /// Reads of the list of regions, one after the other.
    private let reads = SerialWork()
    /// Reads of single packs, one after the other: an older view must not replace a newer one.
    private let views = SerialWork()

    /// The storage on the store that the app gave to ``SharedStore``.
    ///
    /// - Throws: `wrongState` when it gave none.
    public static func shared() async throws(StoreError) -> OfflineStorage { try SharedStore.storage() }

    /// Makes a storage and begins to read the packs.
    public init(_ store: MapStore) {
        self.store = store
        commands.withLock { commands in
            commands = PackCommands(store) { [weak self] id, cause, always in
                await self?.update(id, failed: cause, always: always)
            }
        }
        loop.run(store) { [weak self] in await self?.handle($0) }
        reads.add { [weak self] in await self?.read(renewing: true) }
    }

    deinit { for watcher in state.withLock({ $0.watchers.values.map(\.self) }) { watcher.finish() } }

    /// The packs in the order of their creation; `nil` until they were read for the first time.
    public var packs: [OfflinePack]? { state.withLock { $0.packs } }

    /// Changes from now on; each caller gets all of them.
    public var packChanges: AsyncStream<PackChange> {
        let (stream, continuation) = AsyncStream.makeStream(of: PackChange.self)
        let number = state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = continuation
            return state.nextWatcher
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.watchers[number] = nil } }
        return stream
    }

    /// Registers a pack; its download begins with ``OfflinePack/resume()``.
    ///
    /// - Throws: `invalidArguments` for zooms or a style URL that cannot be.
    public func addPack(for region: any OfflineRegion, context: Data) async throws(StoreError) -> OfflinePack {
        let id = RegionID("pack-\(UUID().uuidString)")
        try await store.addRegion(id, RegionDefinition(region), context: context)
        return try await pack(id)
    }

    /// Removes a pack and what no other pack needs; returns when the space on disk is free.
    ///
    /// The pack is invalid as soon as this is called.
    public func removePack(_ pack: OfflinePack) async throws(StoreError) {
        guard pack.state != .invalid else { throw OfflinePack.removed(pack.id) }
        pack.invalidate()
        state.withLock { _ = $0.leaving.insert(pack.id) }
        do throws(StoreError) {
            let events = store.events
            for task in try await store.remove([.region(pack.id)]) { await EventLoop.end(of: task, in: events) }
        } catch {
            state.withLock { _ = $0.leaving.remove(pack.id) }
            throw error
        }
        await reads.add { [weak self] in await self?.read() }.value
    }

    /// Asks the server about everything of a pack and downloads what changed; all stays readable.
    public func invalidatePack(_ pack: OfflinePack) async throws(StoreError) {
        guard pack.state != .invalid else { throw OfflinePack.removed(pack.id) }
        _ = try await store.refresh(pack.id)
        await update(pack.id)
    }

    /// Reads the packs again; ``packs`` has new objects afterwards, and the change ``PackChange/set`` follows.
    ///
    /// The objects from before are invalid; their packs stay.
    public func reloadPacks() async { await reads.add { [weak self] in await self?.read(renewing: true) }.value }

    /// Adds the packs of an offline database, or another file that a store takes.
    ///
    /// - Throws: `invalidArguments` for a URL that is no file, `badFile` for a file of another kind.
    /// - Returns: The file, and its packs; a file without packs gives none.
    public func addContents(of file: URL) async throws(StoreError) -> (URL, [OfflinePack]) {
        guard file.isFileURL else {
            throw StoreError(.invalidArguments, "'\(file)' is not the URL of a file.")
        }
        let items = try await store.adopt(file, as: nil, by: .copy, replacing: true)
        await reads.add { [weak self] in await self?.read() }.value
        return (file, (packs ?? []).filter { items.contains(.region($0.id)) })
    }

    /// Does the same as ``addContents(of:)``.
    public func addContents(ofFile path: String) async throws(StoreError) -> (URL, [OfflinePack]) {
        try await addContents(of: URL(filePath: path))
    }

    // MARK: Events

    private func handle(_ event: StoreEvent) async {
        switch event {
        case .task(let task):
            for case .region(let id) in task.items {
                if case .failed(let cause) = task.state {
                    await update(id, failed: cause)
                } else if task.kind != .remove {
                    await update(id)
                }
            }
        case .regions, .removed(.region): await reads.add { [weak self] in await self?.read() }.value
        case .limitReached(.onlineTiles(_, let allowed)): notify(.limitReached(allowed))
        case .limitReached(.tilePacks(_, let allowed)): notify(.limitReached(UInt64(max(0, allowed))))
        case .catalogUpdated, .catalogFailed, .installed, .removed, .evicted, .limitReached, .damaged, .connectionLost,
            .connectionFound:
            break
        }
    }

    private func notify(_ change: PackChange) {
        for watcher in state.withLock({ $0.watchers.values.map(\.self) }) { watcher.yield(change) }
    }

    /// Reads the list of regions.
    ///
    /// - Parameter renewing: Whether all packs get new objects.
    private func read(renewing: Bool = false) async {
        // A store that cannot be read keeps the packs as they were known.
        guard let ids = try? await store.regions(), let commands = commands.withLock({ $0 }) else { return }
        var known: [RegionID: OfflinePack] = [:]
        for pack in packs ?? [] where !renewing { known[pack.id] = pack }
        var new: [OfflinePack] = []
        let leaving = state.withLock { state in
            state.leaving.formIntersection(ids)
            return state.leaving
        }
        for id in ids where !leaving.contains(id) {
            if let pack = known[id], pack.state != .invalid {
                new.append(pack)
            } else if let view = await view(id) {
                new.append(OfflinePack(id, view, commands: commands))
            }
        }
        let (before, after) = state.withLock { state in
            defer { state.packs = new }
            return (state.packs, new)
        }
        guard !renewing, let before else {
            // An object that is in no list would show its pack as it once was.
            for pack in before ?? [] { pack.invalidate() }
            return notify(.set)
        }
        let (old, now) = (Set(before), Set(after))
        for pack in before.reversed() where !now.contains(pack) {
            pack.invalidate()
            notify(.removed(pack))
        }
        for pack in after where !old.contains(pack) { notify(.inserted(pack)) }
    }

    private func pack(_ id: RegionID) async throws(StoreError) -> OfflinePack {
        await reads.add { [weak self] in await self?.read() }.value
        guard let pack = packs?.first(where: { $0.id == id }) else { throw OfflinePack.removed(id) }
        return pack
    }

    /// What a region is now; `nil` when there is none.
    private func view(_ id: RegionID) async -> OfflinePack.View? {
        // A region that cannot be read is left out.
        guard let region = try? await store.region(id) else { return nil }
        let task = (try? await store.status(of: .region(id)))?.task
        return OfflinePack.View(
            definition: region.definition, context: region.context, state: PackState(region.state, task?.state),
            progress: PackProgress(task?.progress ?? region.progress))
    }

    /// Brings a pack up to date, and reports what changed.
    private func update(_ id: RegionID, failed cause: FailureCause? = nil, always: Bool = false) async {
        await views.add { [weak self] in await self?.show(id, failed: cause, always: always) }.value
    }

    private func show(_ id: RegionID, failed cause: FailureCause?, always: Bool) async {
        guard let pack = packs?.first(where: { $0.id == id }), let view = await view(id) else { return }
        let isNew = pack.show(view)
        if let cause { notify(.failed(pack, cause)) }
        if isNew || always { notify(.progress(pack)) }
    }
}
