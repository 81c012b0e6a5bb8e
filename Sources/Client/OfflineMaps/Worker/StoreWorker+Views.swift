internal import Foundation

/// What the store has at one moment.
struct StoreView: Sendable {
    var rows: StoreRows
    /// The queue, in the order of its making.
    var tasks: [StoreTask]
    var content: CatalogContent?
    var groups: Set<String>
    /// The free space of the disk.
    var free: UInt64

    /// The files that an item holds: those that readers get, and previous ones.
    func files(of item: Item) -> [InstalledFile] { files(in: Array(rows.files.values) + rows.damaged, of: item) }

    /// The files of an item that are not at their places.
    func missing(of item: Item) -> [InstalledFile] { files(in: rows.missing, of: item) }

    private func files(in files: [InstalledFile], of item: Item) -> [InstalledFile] {
        let held = Set(rows.holds.filter { $0.item == item }.map(\.key))
        return files.filter { held.contains($0.id.key) }.sorted { ($0.order, $0.id) < ($1.order, $1.id) }
    }
}

extension StoreWorker {
    /// The state of the moment: in memory for the process that works, from the rows for others.
    func view() async throws(StoreError) -> StoreView {
        if let suspended { return suspended }
        // What was read before this call counts.
        await shared.settleDamage()
        guard let database else { throw Self.isClosed }
        let content = try await readContent()
        let folder = folder
        let isReader = mode == .reader
        let (groups, free, found) = try await onFiles {
            (try database.groups(), StoreSpace.free(folder), isReader ? try database.rows() : nil)
        }
        guard let found else {
            // All of one moment: nothing is awaited between them.
            return StoreView(
                rows: committedRows, tasks: committedTasks, content: content, groups: groups, free: free)
        }
        return StoreView(
            rows: found,
            tasks: found.tasks.values.sorted { $0.id < $1.id }.map { Self.view(ofReader: $0) }, content: content,
            groups: groups, free: free)
    }

    /// The tasks of the rows, with their states of the moment.
    private var committedTasks: [StoreTask] {
        committedRows.tasks.values.sorted { $0.id < $1.id }.map { record in
            guard let machine else { return Self.view(ofReader: record) }
            if let now = machine.rows.tasks[record.id] { return machine.view(now) }
            return machine.lastView(of: record)
        }
    }

    /// What the catalog offers; `nil` when none was read.
    func readContent() async throws(StoreError) -> CatalogContent? {
        guard let database else { throw Self.isClosed }
        if let content { return content }
        let (life, sequence) = (life, knownSequence)
        let found = try await onFiles { try database.content() }
        if life == self.life, sequence == knownSequence, content == nil { content = found }
        return found
    }

    /// The catalog with its age; `nil` when none was read.
    func catalog() async throws(StoreError) -> MapCatalog? {
        guard let database, let content = try await readContent() else { return nil }
        let address = try await catalogAddress(database)
        let mark = try await onFiles { try address.flatMap { try database.mark(address: $0) } }
        return MapCatalog(content, checkedAt: mark?.checkedAt)
    }

    private func catalogAddress(_ database: StoreDatabase) async throws(StoreError) -> String? {
        try await onFiles { try database.catalogAddress() }
    }

    func planView() async throws(StoreError) -> PlanView {
        guard let database, let machine else { throw Self.isClosed }
        let content = try await readContent()
        let (regions, groups) = try await onFiles { (try database.regions(), try database.groups()) }
        return PlanView(
            address: options.catalog, content: content, rows: self.machine?.rows ?? machine.rows,
            regions: regions.mapValues(\.definition),
            unplanned: Set(regions.filter { $0.value.needs == nil }.keys), groups: groups)
    }

    /// The queue, in the order of its making.
    func tasks() async throws(StoreError) -> [StoreTask] {
        if let suspended { return suspended.tasks }
        if mode == .worker { return committedTasks }
        guard let database else { throw Self.isClosed }
        let (records, works) = try await onFiles { (try database.tasks(), try database.works()) }
        return records.map { Self.view(ofReader: $0, works[$0.id]) }
    }

    /// A task; `nil` when it has ended.
    func task(_ id: TaskID) async -> StoreTask? {
        // A task whose row cannot be read counts as ended.
        return try? await tasks().first { $0.id == id }
    }

    /// Changes rows that the rules do not know: regions and groups.
    func change(_ body: @escaping @Sendable (StoreDatabase) throws -> Void) async throws(StoreError) {
        guard let database else { throw Self.isClosed }
        try await onFiles { try body(database) }
    }

    /// Reads rows that the rules do not know.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (StoreDatabase) throws -> Value
    ) async throws(StoreError) -> Value {
        guard let database else { throw Self.isClosed }
        return try await onFiles { try body(database) }
    }
}
