/// The plans of all tasks, and which of their pieces concern a file or a unit.
struct PlanTable: Sendable {
    struct Place: Hashable, Sendable {
        var task: TaskID
        /// The number of the piece in its plan.
        var number: Int
    }

    private var plans: [TaskID: TaskPlan] = [:]
    private var byDigest: [String: [Place]] = [:]
    private var byUnit: [UnitKey: [Place]] = [:]

    /// For changes of the plan's states; a whole plan is set with ``set(_:of:)``.
    subscript(task: TaskID) -> TaskPlan? {
        get { plans[task] }
        _modify { yield &plans[task] }
    }

    var all: Dictionary<TaskID, TaskPlan>.Values { plans.values }
    var ids: [TaskID] { plans.keys.sorted() }

    /// The pieces that have a digest as that of their file or of their patch.
    func places(of digest: String) -> [Place] { byDigest[digest] ?? [] }
    /// The pieces of a unit, with the tiles that fill it.
    func places(of unit: UnitKey) -> [Place] { byUnit[unit] ?? [] }

    func wants(_ digest: String) -> Bool { byDigest[digest] != nil }
    /// See `Piece.copies`; 0 for the part file of a patch.
    func copies(of digest: String) -> UInt64 {
        places(of: digest).lazy.compactMap { plans[$0.task]?.pieces[$0.number] }.filter { $0.file.digest == digest }
            .map(\.copies).max() ?? 0
    }
    func wants(_ unit: UnitKey) -> Bool { byUnit[unit] != nil }
    func wants(_ file: FileID) -> Bool {
        places(of: file.digest).contains { plans[$0.task]?.pieces[$0.number].file == file }
    }

    mutating func set(_ plan: TaskPlan, of task: TaskID) {
        remove(task)
        plans[task] = plan
        for (number, piece) in plan.pieces.enumerated() {
            let place = Place(task: task, number: number)
            byUnit[piece.file.unit, default: []].append(place)
            for digest in piece.digests { byDigest[digest, default: []].append(place) }
        }
    }

    mutating func remove(_ task: TaskID) {
        guard let plan = plans.removeValue(forKey: task) else { return }
        for unit in Set(plan.pieces.map(\.file.unit)) {
            byUnit[unit]?.removeAll { $0.task == task }
            if byUnit[unit]?.isEmpty ?? false { byUnit[unit] = nil }
        }
        for piece in plan.pieces {
            for digest in piece.digests {
                byDigest[digest]?.removeAll { $0.task == task }
                if byDigest[digest]?.isEmpty ?? false { byDigest[digest] = nil }
            }
        }
    }
}

extension Piece {
    /// The names of the part files that the piece needs.
    var digests: [String] { [file.digest] + (patch.map { [$0.digest] } ?? []) }
}
