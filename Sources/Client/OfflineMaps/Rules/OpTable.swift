/// What is under way, by number, by task, and by the file that it works on.
struct OpTable: Sendable {
    private var ops: [OpID: StoreMachine.Op] = [:]
    private var byTask: [TaskID: Set<OpID>] = [:]
    private var byDigest: [String: OpID] = [:]

    var isEmpty: Bool { ops.isEmpty }
    var values: Dictionary<OpID, StoreMachine.Op>.Values { ops.values }

    subscript(id: OpID) -> StoreMachine.Op? { ops[id] }

    /// The operations of a task, in the order of their beginning.
    func of(_ task: TaskID) -> [OpID] { byTask[task]?.sorted() ?? [] }

    /// The works of a task, in any order.
    func works(of task: TaskID) -> [StoreMachine.Work] { byTask[task]?.compactMap { ops[$0]?.work } ?? [] }

    /// The plan or the list that a task waits for.
    func reading(_ task: TaskID) -> OpID? {
        byTask[task]?.first { id in
            switch ops[id]?.work {
            case .plan, .list: true
            default: false
            }
        }
    }

    /// The operation that works on the bytes of a file; equal bytes have one part file.
    func on(_ digest: String) -> (id: OpID, op: StoreMachine.Op)? {
        byDigest[digest].flatMap { id in ops[id].map { (id, $0) } }
    }

    /// The operations that a condition holds for, in the order of their beginning.
    func filter(_ isIncluded: (OpID, StoreMachine.Op) -> Bool) -> [OpID] {
        ops.filter { isIncluded($0.key, $0.value) }.keys.sorted()
    }

    mutating func insert(_ op: StoreMachine.Op, as id: OpID) {
        ops[id] = op
        byTask[op.task, default: []].insert(id)
        if let digest = op.work.download?.file.digest { byDigest[digest] = id }
    }

    mutating func remove(_ id: OpID) -> StoreMachine.Op? {
        guard let op = ops.removeValue(forKey: id) else { return nil }
        byTask[op.task]?.remove(id)
        if byTask[op.task]?.isEmpty ?? false { byTask[op.task] = nil }
        if let digest = op.work.download?.file.digest, byDigest[digest] == id { byDigest[digest] = nil }
        return op
    }

    /// Notes for each plan that is being made that something is being removed from the disk.
    mutating func noteRemoval(_ what: Trash) {
        for (id, op) in ops where op.work == .plan { ops[id]?.removed.insert(what) }
    }
}
