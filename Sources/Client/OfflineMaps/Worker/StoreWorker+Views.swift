internal import Foundation

/// What the store has at one moment.
struct StoreView: Sendable {
    var rows: StoreRows
    var units: [FileID: UnitRow]
    var content: CatalogContent?
    var groups: Set<String>
    /// The free space of the disk.
    var free: UInt64

    /// The current and previous files that an item holds.
    func files(of item: Item) -> [(record: UnitRecord, row: UnitRow)] {
        let held = Set(rows.holds.filter { $0.item == item }.map(\.unit))
        return rows.units.values.filter { held.contains($0.file.unit) }
            .compactMap { record in units[record.file].map { (record, $0) } }
            .sorted { $0.record.order < $1.record.order }
    }
}

extension StoreWorker {
    /// The state of the moment: in memory for the process that works, from the rows for others.
    func view() async throws(StoreError) -> StoreView {
        if let suspended { return suspended.view }
        guard let database else { throw Self.isClosed }
        let content = try await readContent()
        let folder = folder
        let known = machine?.rows
        let (groups, free, rows) = try await onFiles {
            (try database.groups(), StoreSpace.free(folder), try known ?? database.rows())
        }
        return StoreView(rows: rows, units: units, content: content, groups: groups, free: free)
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
            units: Array(units.values), regions: regions.mapValues(\.definition), groups: groups)
    }

    /// The queue, in the order of its making.
    func tasks() async throws(StoreError) -> [StoreTask] {
        if let suspended { return suspended.tasks }
        if let machine { return machine.rows.tasks.values.sorted { $0.id < $1.id }.map(machine.view) }
        guard let database else { throw Self.isClosed }
        return try await onFiles { try database.tasks() }.map(Self.view(ofReader:))
    }

    /// A task; `nil` when it has ended.
    func task(_ id: TaskID) async -> StoreTask? {
        if let machine { return machine.rows.tasks[id].map(machine.view) }
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
