internal import Foundation

extension MapStore {
    /// The last catalog, from disk; `nil` when none was read.
    public var catalog: MapCatalog? {
        // A database that cannot be read is reported by the calls that throw.
        get async { try? await worker.catalog() }
    }

    /// Asks the server for a newer catalog.
    ///
    /// - Parameters:
    ///   - ifOlderThan: A catalog of which the server was asked within this time is not asked for again.
    ///   - allowOlder: Whether a person allows a catalog that is older than the largest one that was seen.
    /// - Throws: `network`, also without a network, and when the server does not answer, fails or asks to wait for more than
    ///   30 s; `catalog` for one that is refused, and for an address that has none;
    ///   `disk-full`, `storage`; `wrong-state` before ``start()``.
    @discardableResult public func refreshCatalog(
        ifOlderThan: Duration = .seconds(86_400), allowOlder: Bool = false
    ) async throws(StoreError) -> MapCatalog {
        try await refreshCatalog(ifOlderThan: ifOlderThan, allowOlder: allowOlder) { _ in }
    }

    /// The same.
    ///
    /// - Parameter show: Gets why the call waits for the next attempt.
    @discardableResult func refreshCatalog(
        ifOlderThan: Duration, allowOlder: Bool = false, showing show: @Sendable (TaskState) -> Void
    ) async throws(StoreError) -> MapCatalog {
        if !allowOlder, let known = try await worker.catalog(), let age = known.age, age < ifOlderThan { return known }
        guard await worker.started != nil else {
            throw StoreError(.wrongState, "The store was not started.", advice: "Call start() first.")
        }
        guard let address = worker.options.catalog?.absoluteString else {
            throw StoreError(.invalidArguments, "The store has no catalog.", advice: "Set StoreOptions.catalog.")
        }
        let events = events
        var record = TaskRecord(id: TaskID(number: 0), kind: .list)
        record.allowOlder = allowOlder
        let id = try await add(record)
        for await event in events {
            guard case .task(let task) = event, task.id == id else { continue }
            if case .failed(let cause) = task.state {
                throw StoreError.catalogNotRead(
                    address, cause, isHeldBack: await worker.isForcedOffline, text: task.failureText)
            }
            switch task.state {
            case .waiting(.backoff), .waiting(.server): show(task.state)
            default: break
            }
            if case .paused(let reason) = task.state {
                // The call must not wait for what only the app can change.
                _ = try await worker.submit(.cancel(id))
                throw StoreError.failing(
                    .connection, "The catalog '\(address)' was not read: the store \(TaskState.paused(reason).words).")
            }
            if task.state.isOver { break }
        }
        guard let catalog = try await worker.catalog() else {
            throw StoreError(.notInCatalog, "No catalog was read.", isRetriable: true)
        }
        return catalog
    }

    /// What an update of everything would change: for each item the versions, the bytes, and whether a patch is used.
    ///
    /// It asks no server: packages and styles are compared with the last catalog.
    public func updates() async throws(StoreError) -> UpdateOffer {
        let view = try await worker.view()
        var changes: [UpdateOffer.Change] = []
        for item in try await items() where item.hasVersion {
            guard let offered = view.content?.offer(of: item)?.version ?? view.content?.style(of: item)?.version,
                // A missing file that was adopted at its own place is not downloaded: it may come back, and a person may
                // remove or install its item.
                !view.missing(of: item).contains(where: \.isOutside),
                case .plan(let plan) = try await plan([item], .update, in: view).answer
            else { continue }
            let new = plan.downloads.filter { view.rows.files[$0.file]?.state != .current }
            guard !new.isEmpty else { continue }
            func size(_ download: DownloadItem) -> UInt64 { download.patch?.size ?? download.size }
            let own = new.filter { !$0.file.key.isCompanion }
            let installed = Self.installed(item, in: view, folder: worker.folder)
            changes.append(
                UpdateOffer.Change(
                    item: item, from: installed?.isDamaged == false ? installed?.version : nil, to: offered,
                    bytes: new.reduce(0) { $0 + size($1) },
                    companionBytes: new.filter(\.file.key.isCompanion).reduce(0) { $0 + size($1) },
                    isPatch: !own.isEmpty && own.allSatisfy { $0.patch != nil }))
        }
        let from = Self.dates(changes.compactMap { change in Self.date(of: change.item, view) })
        let to = Self.dates(changes.compactMap { view.content?.offer(of: $0.item)?.dataDate })
        let hasDates = !from.isEmpty && !to.isEmpty
        return UpdateOffer(
            changes: changes, bytes: changes.reduce(0) { $0 + $1.bytes },
            from: hasDates ? from : Self.versions(changes.compactMap(\.from)),
            to: hasDates ? to : Self.versions(changes.map(\.to)))
    }

    /// What an installation of items would take; lists of tile packs are downloaded for it.
    ///
    /// - Throws: `not-in-catalog`, `network`, `limit`.
    public func estimate(_ items: [Item]) async throws(StoreError) -> Estimate {
        try await estimate(items, with: CompanionChoice())
    }

    /// The same with companions.
    func estimate(_ items: [Item], with companions: CompanionChoice) async throws(StoreError) -> Estimate {
        let view = try await worker.view()
        let detailed = try await plan(items, .install, with: companions, in: view)
        switch detailed.answer {
        case .failed(let cause): throw .failing(cause, detailed.text ?? "The estimate failed: \(cause.words).")
        case .fault: throw .failing(.connection, "The server cannot be asked for the estimate.")
        case .plan(let plan):
            let folder = worker.folder
            let usage = try await worker.onFiles { StoreSpace.usage(view, folder) }
            return Self.estimate(plan, view, usage: usage)
        }
    }

    private func plan(
        _ items: [Item], _ kind: TaskKind, with companions: CompanionChoice? = nil, in view: StoreView
    ) async throws(StoreError) -> DetailedPlan {
        let regions = try await worker.read { try $0.regions() }
        let planView = PlanView(
            address: worker.options.catalog, content: view.content, rows: view.rows,
            regions: regions.mapValues(\.definition), groups: view.groups)
        var task = TaskRecord(id: TaskID(number: 0), kind: kind, items: items)
        task.companions = companions
        return await worker.planner.plan(task, planView)
    }

    /// What a plan takes: the old files stay until the new ones are in place.
    static func estimate(_ plan: Plan, _ view: StoreView, usage: Usage) -> Estimate {
        var seen: Set<FileID> = []
        let downloads = plan.downloads.filter { seen.insert($0.file).inserted }
        let new = downloads.filter { view.rows.files[$0.file] == nil && $0.source != .filled }
        let transfer = new.reduce(0) { $0 + ($1.patch?.size ?? $1.size) }
        let added = new.reduce(0) { $0 + $1.size * (1 + $1.copies) }
        let patches = new.reduce(0) { $0 + ($1.patch?.size ?? 0) }
        let replaced = Set(new.filter { !$0.isTile }.map(\.file.key)).reduce(UInt64(0)) { sum, key in
            sum + (view.rows.readable(key)?.bytes ?? 0)
        }
        let kept = view.rows.settings.quota.previousVersions > 0 ? 0 : replaced
        let peak = added + patches
        let used = usage.total - usage.ambient
        let fitsQuota = usage.quota.map { used + added - min(kept, used + added) <= $0 } ?? true
        let tiles = downloads.filter(\.isTile)
        return Estimate(
            transfer: transfer,
            storage: downloads.filter { $0.source != .filled }.reduce(0) { $0 + $1.size * (1 + $1.copies) },
            peak: peak,
            margin: tiles.isEmpty ? 0 : 0.5, tiles: UInt64(tiles.count),
            packs: Set(downloads.filter(\.isPack).map(\.file.key)).count,
            fits: fitsQuota && peak + StoreMachine.diskMargin <= usage.free)
    }

    private static func date(of item: Item, _ view: StoreView) -> String? {
        view.files(of: item).first { $0.isRead && item.isMade(of: $0.item) }?.dataDate
    }

    /// One date, or the first and the last.
    private static func versions(_ versions: [Int32]) -> String {
        guard let first = versions.min(), let last = versions.max() else { return "" }
        return first == last ? "\(first)" : "\(first)/\(last)"
    }

    private static func dates(_ dates: [String]) -> String {
        guard let first = dates.min(), let last = dates.max() else { return "" }
        return first == last ? first : "\(first)/\(last)"
    }
}
