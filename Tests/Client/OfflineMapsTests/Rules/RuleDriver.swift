@testable import OfflineMaps

/// A machine whose writes are acknowledged at once, for tests of single rules.
struct RuleDriver {
    var machine: StoreMachine
    var now: Int64 = 0
    /// Every write so far.
    var writes: [[Change]] = []

    init(_ rows: StoreRows = StoreRows(), parts: [String: UInt64] = [:], free: UInt64 = 1 << 40) {
        machine = StoreMachine(rows, seed: 1)
        send(.opened(parts: parts, prepared: [], free: free))
        send(.start)
    }

    /// The effects of an event and of the acknowledgements that follow.
    @discardableResult mutating func send(_ event: Event) -> [Effect] {
        var effects = machine.handle(event, now: Instant(milliseconds: now))
        var index = 0
        while index < effects.count {
            if case .write(let id, let changes) = effects[index] {
                writes.append(changes)
                effects += machine.handle(.written(id), now: Instant(milliseconds: now))
            }
            index += 1
        }
        return effects
    }

    /// Adds a task and answers its plan.
    @discardableResult mutating func add(
        _ kind: TaskKind, _ items: [Item], _ plan: Plan? = nil, rule: TaskRule = TaskRule(), allowOlder: Bool = false
    ) -> (task: TaskID, effects: [Effect]) {
        let record = TaskRecord(id: TaskID(number: 0), kind: kind, items: items, rule: rule, allowOlder: allowOlder)
        var effects = send(.asked(RequestID(number: now + 1), .add(record)))
        let id = effects.compactMap { if case .answer(_, .task(let id)) = $0 { id } else { nil } }.first
        if let plan, let op = effects.compactMap({ if case .plan(let op, _) = $0 { op } else { nil } }).last {
            effects += send(.planned(op, .plan(plan)))
        }
        return (id ?? TaskID(number: 0), effects)
    }

    func state(_ id: TaskID) -> TaskState? { machine.rows.tasks[id].map(machine.state) }
}

extension [Effect] {
    var fetches: [OpID] { compactMap { if case .fetch(let op, _, _, _, _) = $0 { op } else { nil } } }
    var stops: [OpID] { compactMap { if case .stop(let op) = $0 { op } else { nil } } }
    var lists: [OpID] { compactMap { if case .list(let op) = $0 { op } else { nil } } }
    var plans: [OpID] { compactMap { if case .plan(let op, _) = $0 { op } else { nil } } }
    var verifies: [OpID] { compactMap { if case .verify(let op, _) = $0 { op } else { nil } } }
    var patches: [OpID] { compactMap { if case .patch(let op, _) = $0 { op } else { nil } } }
    var prepares: [OpID] { compactMap { if case .prepare(let op, _) = $0 { op } else { nil } } }
    var discards: [Trash] { compactMap { if case .discard(let trash, path: _) = $0 { trash } else { nil } } }
    var limits: [Limit] { compactMap { if case .report(.limitReached(let limit)) = $0 { limit } else { nil } } }
}

/// A download of a package or pack with 1,000 bytes.
func download(
    _ name: String, version: Int32 = 1, isPack: Bool = false, size: UInt64 = 1_000,
    source: DownloadItem.Source = .file(nil),
    holder: Item? = .style("s")
) -> DownloadItem {
    let file = FileID(key: InstalledFileKey(name: name, isPack: isPack), version: version, digest: "\(name)-\(version)")
    return DownloadItem(holder: holder, file: file, size: size, source: source)
}

extension InstalledFile {
    /// A file as the rules see it.
    init(
        _ id: FileID, bytes: UInt64 = 1_000, _ state: State = .current, expires: Int64? = nil, usedAt: Int64 = 0,
        order: Int64 = 0
    ) {
        self.init(
            id: id, item: .style(id.key.name), path: "files/\(id.digest)", bytes: bytes, format: .mbtiles,
            expires: expires, usedAt: usedAt, order: order, state: state)
    }
}

extension Event {
    static func prepared(_ op: OpID, _ file: FileID, bytes: UInt64) -> Event {
        .prepared(op, InstalledFile(file, bytes: bytes))
    }
}
