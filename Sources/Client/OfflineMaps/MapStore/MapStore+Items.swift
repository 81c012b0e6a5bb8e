public import Foundation

extension MapStore {
    /// Downloads and installs items, a task for each; with a package also its selected data groups.
    ///
    /// The call returns when the tasks are in the durable queue. An item that is installed is brought to the newest
    /// version.
    @discardableResult public func install(
        _ items: [Item], _ rule: TaskRule = .init()
    ) async throws(StoreError) -> [TaskID] {
        var ids: [TaskID] = []
        for item in items {
            ids.append(try await add(Self.record(item.isRegion ? .load : .install, [item], rule: rule)))
        }
        return ids
    }

    /// Brings items to the newest version, a task for each; `nil` is all ``items()``.
    ///
    /// - Parameter together: One task for all: all items get their new version in one transaction, or none does.
    @discardableResult public func update(
        _ items: [Item]? = nil, together: Bool = false
    ) async throws(StoreError) -> [TaskID] {
        let wanted: [Item]
        if let items { wanted = items } else { wanted = try await self.items() }
        guard !wanted.isEmpty else { return [] }
        if together {
            var record = Self.record(.update, wanted, rule: TaskRule())
            record.together = true
            return [try await add(record)]
        }
        var ids: [TaskID] = []
        for item in wanted { ids.append(try await add(Self.record(.update, [item], rule: TaskRule()))) }
        return ids
    }

    /// Removes items, a task for each; what other items hold stays.
    ///
    /// Other tasks of these items are cancelled.
    @discardableResult public func remove(_ items: [Item]) async throws(StoreError) -> [TaskID] {
        var ids: [TaskID] = []
        for item in items { ids.append(try await add(Self.record(.remove, [item], rule: TaskRule()))) }
        return ids
    }

    /// Goes back to the newest version that was kept (``Quota/previousVersions``).
    ///
    /// Every byte of what comes back is read first; nothing changes when it is damaged.
    ///
    /// - Throws: `not-found` when the item is not installed, `wrong-state` when no version of it was kept, `damaged` when the kept file
    ///   is not what was installed.
    public func rollback(_ item: Item) async throws(StoreError) -> TaskID {
        let view = try await worker.view()
        let files = view.files(of: item)
        guard !files.isEmpty else { throw StoreError(.notFound, "\(item.subject) is not installed.") }
        guard files.contains(where: { $0.state == .previous }) else {
            throw StoreError(
                .wrongState, "No earlier version of '\(item.key)' was kept.",
                advice: "Set Quota.previousVersions before an update.")
        }
        let (coming, folder) = (view.rows.filesComingBack(of: [item]), worker.folder)
        let damaged = try await worker.onFiles {
            coming.lazy.compactMap { file in
                StoreVerify.problem(file, in: folder, deep: true).map { (path: file.path, problem: $0) }
            }.first
        }
        if let (path, problem) = damaged {
            throw StoreError(
                .damaged, "The kept version of '\(item.key)' cannot come back: '\(path)': \(problem)",
                advice: "The present version stays. Verify and repair the store, which removes the damaged file.")
        }
        return try await add(Self.record(.rollback, [item], rule: TaskRule()))
    }

    /// Everything that is installed, in the order of its installation.
    public func installed() async throws(StoreError) -> [Installed] {
        let view = try await worker.view()
        let items = Set(view.rows.holds.map(\.item))
        return items.compactMap { Self.installed($0, in: view, folder: worker.folder) }
            .sorted { ($0.files.first?.order ?? 0, $0.item.key) < ($1.files.first?.order ?? 0, $1.item.key) }
    }

    /// What was installed and not removed, in the order of its installation: also items whose files are missing.
    public func items() async throws(StoreError) -> [Item] {
        let view = try await worker.view()
        func place(_ item: Item) -> (Int64, String) {
            ((view.files(of: item) + view.missing(of: item)).map(\.order).min() ?? 0, item.key)
        }
        return Set(view.rows.holds.map(\.item)).map { ($0, place($0)) }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    /// What the store knows of an item; `nil` when it is neither installed, nor wanted, nor in the catalog.
    public func status(of item: Item) async throws(StoreError) -> Status? {
        let view = try await worker.view()
        let task = view.tasks.last { $0.items.contains(item) }
        let installed = Self.installed(item, in: view, folder: worker.folder)
        let offer = view.content?.offer(of: item)
        let offered = offer.map { PackageInfo($0) }
        let newest = offer?.version ?? view.content?.style(of: item)?.version
        let isKnown = installed != nil || task != nil || newest != nil || view.rows.holds.contains { $0.item == item }
        guard isKnown else { return nil }
        let files = view.files(of: item)
        let places = files.compactMap(worker.folder.place)
        let lost = try await worker.onFiles { places.filter { StoreScan.absence(of: $0) != nil } }
        let missing = view.missing(of: item).compactMap(worker.folder.place) + lost
        return Status(
            installed: installed, task: task, offered: offered,
            isOutdated: item.hasVersion
                && installed.map { installed in
                    guard let offer, !offer.parts.isEmpty else {
                        return installed.version < newest ?? installed.version
                    }
                    return !offer.isInstalled(item, in: installed.files)
                } ?? false || installed != nil && Self.hasNewerCompanion(of: item, among: files, in: view),
            isDamaged: installed.map(\.isDamaged) ?? view.rows.holds.contains { $0.item == item },
            missingFiles: missing, missingGroups: Self.missingGroups(of: item, files, view))
    }

    private static func missingGroups(of item: Item, _ files: [InstalledFile], _ view: StoreView) -> [String] {
        guard case .package(let id, let edition, _) = item, edition.group == nil, !files.isEmpty else { return [] }
        let there = Set(files.filter(\.isRead).compactMap(\.item.edition.group))
        return view.groups.sorted().filter { group in
            !there.contains(group)
                && view.content?.offer(id, Edition(group: group, language: edition.language)) != nil
        }
    }

    /// The file of an item; `nil` when it is not installed or has several files.
    ///
    /// Do not store this URL: the folder of an app can move, and an update has another name.
    public func url(of item: Item) async throws(StoreError) -> URL? {
        Self.installed(item, in: try await worker.view(), folder: worker.folder)?.file
    }

    /// What the store takes on disk, and what it may take.
    public func usage() async throws(StoreError) -> Usage {
        let view = try await worker.view()
        let folder = worker.folder
        return try await worker.onFiles { StoreSpace.usage(view, folder) }
    }

    /// Selects data groups; they count for later installations and updates.
    public func setGroups(_ groups: Set<String>) async throws(StoreError) {
        try await worker.change { try $0.setGroups(groups) }
    }

    /// The data groups that are selected.
    public func groups() async throws(StoreError) -> Set<String> { try await worker.read { try $0.groups() } }

    /// Changes how much the store may hold; it counts until it is changed again, or until the store is opened with
    /// other options than the last time.
    public func setQuota(_ quota: Quota) async throws(StoreError) { _ = try await worker.submit(.setQuota(quota)) }

    /// Changes which network tasks may use, for as long as ``setQuota(_:)`` does.
    public func setNetworkRule(_ rule: NetworkRule) async throws(StoreError) {
        _ = try await worker.submit(.setNetworkRule(rule))
    }

    static func record(_ kind: TaskKind, _ items: [Item], rule: TaskRule) -> TaskRecord {
        var record = TaskRecord(id: TaskID(number: 0), kind: kind, items: items, rule: rule)
        record.plansOnline = items.contains { item in
            switch item {
            case .package, .style: false
            // Lists of packs, and what a style needs, are downloaded for the plan.
            case .packs, .region: true
            }
        }
        return record
    }

    static func installed(_ item: Item, in view: StoreView, folder: StoreFolder) -> Installed? {
        let files = view.files(of: item)
        guard files.contains(where: \.isRead) else { return nil }
        let own = files.filter { file in view.rows.holders(of: file.id.key).allSatisfy { $0.item == item } }
        let single = files.filter { $0.isRead && $0.item == item }
        var installed = Installed(
            item: item, files: files, file: single.count == 1 ? folder.place(of: single[0]) : nil,
            ownBytes: own.reduce(0) { $0 + $1.bytes },
            isInCatalog: view.content?.offer(of: item) != nil || view.content?.style(of: item) != nil)
        installed.companions = companions(among: files, folder)
        return installed
    }
}

extension Item {
    var isRegion: Bool { if case .region = self { true } else { false } }
}

extension CatalogContent {
    /// The package of an item.
    func offer(of item: Item) -> Offer? {
        switch item {
        case .package(let id, let edition, _), .packs(let id, let edition): offer(id, edition)
        case .region, .style: nil
        }
    }

    /// The style pack of an item.
    func style(of item: Item) -> Style? {
        guard case .style(let id) = item else { return nil }
        return styles.first { $0.id == id }
    }
}
