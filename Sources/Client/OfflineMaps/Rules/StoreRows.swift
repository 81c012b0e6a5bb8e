/// A task as the database keeps it.
struct TaskRecord: Hashable, Codable, Sendable {
    var id: TaskID
    var kind: TaskKind
    var items: [Item] = []
    /// With the priority of the moment.
    var rule = TaskRule()
    /// Whether all files become current in one transaction.
    var together = false
    /// Whether a list that is older than the largest known sequence is accepted.
    var allowOlder = false
    /// Whether the plan needs the network: the region has a style or a tile server.
    var plansOnline = false
    /// The tile whose pack a map view wants; then the task has no items, and the pack is of no region.
    var viewed: ViewedTile?
    /// The companions that its packages get, and those that they give up.
    var companions: CompanionChoice?
    /// Why the task failed; a failed task stays until it is retried or cancelled.
    var failure: FailureCause?
    /// What happened and what to do, where more is known than the cause.
    var failureText: String?
}

/// A tile that a map view wants.
struct ViewedTile: Hashable, Codable, Sendable {
    var tileset: String
    var zoom: Int
    var column: Int
    var row: Int
}

/// Who needs a file.
struct Hold: Hashable, Codable, Sendable {
    var key: InstalledFileKey
    var item: Item
}

/// Settings and counters of the store.
struct StoreSettings: Hashable, Codable, Sendable {
    var quota = Quota()
    var networkRule = NetworkRule.any
    var nextTask: Int64 = 1
    var nextOrder: Int64 = 1
}

/// One change of a row; the changes of one write are one transaction.
enum Change: Hashable, Sendable {
    case task(TaskRecord)
    case endTask(TaskID)
    case file(InstalledFile)
    case removeFile(FileID)
    case hold(Hold)
    case dropHold(Hold)
    case settings(StoreSettings)
    /// The largest sequence that was seen from an address or with a key.
    case sequence(String, UInt64)
    /// The offers of this list replace those before.
    case catalog(UInt64)
    /// Single tiles that an item added; 0 removes the row.
    case tiles(Item, UInt64)
    /// The request of another process has been handled: its row gets the answer.
    case answered(RequestID, Answer)
}

/// All rows that the rules need; the machine holds them in memory, the shell in SQLite.
struct StoreRows: Hashable, Sendable {
    var tasks: [TaskID: TaskRecord] = [:]
    var files: InstalledFileTable = [:]
    /// Files that items need and that are missing or damaged: plans do not count on them.
    var faulty: InstalledFileTable = [:]
    var holds: Set<Hold> = []
    var settings = StoreSettings()
    var sequences: [String: UInt64] = [:]
    /// The sequence of the current catalog; 0 before the first.
    var catalog: UInt64 = 0
    var tiles: [Item: UInt64] = [:]

    mutating func apply(_ change: Change) {
        switch change {
        case .task(let record): tasks[record.id] = record
        case .endTask(let id): tasks[id] = nil
        case .file(let file):
            let isFaulty = file.state == .missing || file.state == .damaged
            files[file.id] = isFaulty ? nil : file
            faulty[file.id] = isFaulty ? file : nil
        case .removeFile(let file): (files[file], faulty[file]) = (nil, nil)
        case .hold(let hold): holds.insert(hold)
        case .dropHold(let hold): holds.remove(hold)
        case .settings(let new): settings = new
        case .sequence(let source, let number): sequences[source] = number
        case .catalog(let number): catalog = number
        case .tiles(let item, let count): tiles[item] = count == 0 ? nil : count
        case .answered: break
        }
    }

    /// The version of a file that readers get, when it is whole.
    func current(_ key: InstalledFileKey) -> InstalledFile? { files.current(key) }

    /// The version of a file that readers get, whole or damaged.
    func readable(_ key: InstalledFileKey) -> InstalledFile? {
        files.current(key) ?? faulty.versions(of: key).first { $0.state == .damaged }
    }

    /// All files that readers get.
    var readable: [InstalledFile] { files.values.filter(\.isRead) + faulty.values.filter(\.isRead) }

    /// The files that are not at their places.
    var missing: [InstalledFile] { faulty.values.filter { $0.state == .missing } }

    /// The files whose bytes are wrong.
    var damaged: [InstalledFile] { faulty.values.filter { $0.state == .damaged } }

    /// The holds of a file, always in the same order.
    func holders(of key: InstalledFileKey) -> [Hold] {
        holds.filter { $0.key == key }.sorted { "\($0.item)" < "\($1.item)" }
    }

    /// The files that an item needs.
    var held: Set<InstalledFileKey> { Set(holds.map(\.key)) }
}

/// The installed files by name, and the versions of each key.
struct InstalledFileTable: Sendable, ExpressibleByDictionaryLiteral {
    private var records: [FileID: InstalledFile] = [:]
    private var byKey: [InstalledFileKey: [FileID]] = [:]

    init(dictionaryLiteral elements: (FileID, InstalledFile)...) { for (id, file) in elements { self[id] = file } }

    var values: Dictionary<FileID, InstalledFile>.Values { records.values }
    var keys: Dictionary<FileID, InstalledFile>.Keys { records.keys }
    var count: Int { records.count }
    var isEmpty: Bool { records.isEmpty }

    subscript(file: FileID) -> InstalledFile? {
        get { records[file] }
        set {
            let old = records[file]
            records[file] = newValue
            if old == nil, newValue != nil { byKey[file.key, default: []].append(file) }
            guard old != nil, newValue == nil else { return }
            byKey[file.key]?.removeAll { $0 == file }
            if byKey[file.key]?.isEmpty ?? false { byKey[file.key] = nil }
        }
    }

    /// All versions of a key, the latest installed first.
    func versions(of key: InstalledFileKey) -> [InstalledFile] {
        (byKey[key] ?? []).compactMap { records[$0] }.sorted { ($0.order, $0.id) > ($1.order, $1.id) }
    }

    /// The version of a key that readers get.
    func current(_ key: InstalledFileKey) -> InstalledFile? {
        for file in byKey[key] ?? [] { if let record = records[file], record.state == .current { return record } }
        return nil
    }
}

extension InstalledFileTable: Hashable {
    static func == (left: InstalledFileTable, right: InstalledFileTable) -> Bool { left.records == right.records }
    func hash(into hasher: inout Hasher) { hasher.combine(records) }
}
