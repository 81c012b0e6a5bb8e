/// What a loop over a ``MapDownload`` does: read the list, choose the items, join their tasks, and follow these.
struct DownloadRun: Sendable {
    let store: MapStore
    /// A list of which the server was asked within this time is not asked for again.
    let maxAge: Duration
    /// Whether a list that cannot be read ends the run; otherwise a list that was read before is used.
    let needsList: Bool
    let choose: @Sendable (MapStore) async throws(StoreError) -> [Item]

    /// Returns when everything is installed, or when the task is cancelled.
    ///
    /// - Parameter show: Gets each progress that differs from the one before; at least one.
    func run(_ show: @Sendable (DownloadProgress) -> Void) async throws(StoreError) {
        let items = try await items { show(DownloadProgress(fraction: 0, transferred: 0, state: $0)) }
        guard !Task.isCancelled else { return }
        // Before the tasks are joined: their ends may come at once.
        let events = store.events
        let tasks = try await store.downloads.join(items, in: store)
        let outcome: Result<Void, StoreError>
        do throws(StoreError) {
            outcome = .success(try await follow(tasks, of: items, in: events, show: show))
        } catch { outcome = .failure(error) }
        await store.downloads.leave(Set(tasks.values), in: store)
        try outcome.get()
    }

    private func items(showing show: @Sendable (TaskState) -> Void) async throws(StoreError) -> [Item] {
        var failure: StoreError?
        do throws(StoreError) { try await store.refreshCatalog(ifOlderThan: maxAge, showing: show) } catch {
            guard !needsList, await store.catalog != nil else { throw error }
            failure = error
        }
        do throws(StoreError) { return try await choose(store) } catch {
            guard error.code == .notInCatalog else { throw error }
            if let failure { throw failure }
            // It may have been published since.
            try await store.refreshCatalog(ifOlderThan: .zero, showing: show)
            return try await choose(store)
        }
    }

    private func follow(
        _ tasks: [Item: TaskID], of items: [Item], in events: StoreEvents, show: (DownloadProgress) -> Void
    ) async throws(StoreError) {
        let content = try await store.worker.readContent()
        var watch = DownloadWatch()
        for item in items {
            let size = content?.offer(of: item)?.size ?? content?.style(of: item)?.file.size
            watch.add(item, bytes: size ?? 1, task: tasks[item])
        }
        for task in try await store.tasks() where watch.wants(task) {
            // A failure of before is being tried again; a new one comes as an event.
            if case .failed = task.state { continue }
            watch.take(task)
        }
        var last = watch.progress
        show(last)
        guard !last.isComplete else { return }
        for await event in events {
            guard case .task(let task) = event, watch.wants(task) else { continue }
            watch.take(task)
            if let failure = watch.failure { throw failure }
            if watch.progress != last {
                last = watch.progress
                show(last)
            }
            if last.isComplete { return }
        }
        guard Task.isCancelled else {
            throw StoreError(.wrongState, "The store was closed.", advice: "Open it again; the download continues.")
        }
    }
}

extension MapStore {
    /// The items of a package and a style: what is here already, else what the catalog has, MBTiles before other formats.
    ///
    /// The style is first, because it is small.
    ///
    /// - Throws: `not-in-catalog` naming the ids that exist.
    func items(package id: String, style: String?) async throws(StoreError) -> [Item] {
        let (held, content) = (try await held(package: id), try await worker.readContent())
        var items: [Item] = []
        if let style {
            let isHeld = try await self.items().contains(.style(style))
            guard isHeld || content?.styles.contains(where: { $0.id == style }) == true else {
                throw Self.unknown("style", style, known: content?.styles.map(\.id))
            }
            items.append(.style(style))
        }
        if let item = held.first { return items + [item] }
        guard let offer = content?.offer(id, Edition()) else {
            let known = content?.offers.filter { $0.group == nil && $0.language == nil }.map(\.id)
            throw Self.unknown("package", id, known: known)
        }
        let formats = offer.files.map(\.format)
        let format = [Format.mbtiles, .pmtiles].first { formats.contains($0.name) }
        return items + [.package(id, Edition(), format ?? formats.first.map { Format($0) } ?? .mbtiles)]
    }

    /// The items of a package of the main edition that are installed or in the queue.
    func held(package id: String) async throws(StoreError) -> [Item] {
        let wanted = try await tasks().filter { $0.kind != .remove }.flatMap(\.items)
        var found: [Item] = []
        for item in try await items() + wanted where !found.contains(item) {
            guard case .package(id, Edition(), _) = item else { continue }
            found.append(item)
        }
        return found
    }

    private static func unknown(_ kind: String, _ id: String, known: [String]?) -> StoreError {
        let some = known.map { $0.prefix(8).joined(separator: ", ") + ($0.count > 8 ? ", …" : "") } ?? ""
        return .failing(
            .notInCatalog, "The catalog has no \(kind) '\(id.prefix(200))'.",
            advice: some.isEmpty ? "It has none; ask its publisher." : "It has \(some).")
    }
}
