/// The plans of all tasks, and which of their downloads concern a file or a file.
struct PlanTable: Sendable {
    struct Place: Hashable, Sendable {
        var task: TaskID
        /// The number of the download in its plan.
        var number: Int
    }

    private var plans: [TaskID: TaskPlan] = [:]
    private var byDigest: [String: [Place]] = [:]
    private var byKey: [InstalledFileKey: [Place]] = [:]

    /// For changes of the plan's states; a whole plan is set with ``set(_:of:)``.
    subscript(task: TaskID) -> TaskPlan? {
        get { plans[task] }
        _modify { yield &plans[task] }
    }

    var all: Dictionary<TaskID, TaskPlan>.Values { plans.values }
    var ids: [TaskID] { plans.keys.sorted() }

    /// The downloads that have a digest as that of their file or of their patch.
    func places(of digest: String) -> [Place] { byDigest[digest] ?? [] }
    /// The downloads of a file, with the tiles that fill it.
    func places(of key: InstalledFileKey) -> [Place] { byKey[key] ?? [] }

    func wants(_ digest: String) -> Bool { byDigest[digest] != nil }
    /// See `DownloadItem.copies`; 0 for the part file of a patch.
    func copies(of digest: String) -> UInt64 {
        places(of: digest).lazy.compactMap { plans[$0.task]?.downloads[$0.number] }.filter { $0.file.digest == digest }
            .map(\.copies).max() ?? 0
    }
    func wants(_ key: InstalledFileKey) -> Bool { byKey[key] != nil }
    func wants(_ file: FileID) -> Bool {
        places(of: file.digest).contains { plans[$0.task]?.downloads[$0.number].file == file }
    }

    /// The tasks whose plans count on the tiles of a file that is here.
    func tasks(countingOn file: FileID) -> [TaskID] {
        let places = places(of: file.digest).filter { place in
            guard let download = plans[place.task]?.downloads[place.number] else { return false }
            return download.file == file && download.source == .filled
        }
        return Set(places.map(\.task)).sorted()
    }

    /// The tasks whose plans fill a pack again and replace an installed file.
    func tasks(refilling file: FileID) -> [TaskID] {
        let places = places(of: file.key).filter { place in
            guard let download = plans[place.task]?.downloads[place.number] else { return false }
            return download.file != file && download.source == .filled
        }
        return Set(places.map(\.task)).sorted()
    }

    mutating func set(_ plan: TaskPlan, of task: TaskID) {
        remove(task)
        plans[task] = plan
        for (number, download) in plan.downloads.enumerated() {
            let place = Place(task: task, number: number)
            byKey[download.file.key, default: []].append(place)
            for digest in download.digests { byDigest[digest, default: []].append(place) }
        }
    }

    mutating func remove(_ task: TaskID) {
        guard let plan = plans.removeValue(forKey: task) else { return }
        for key in Set(plan.downloads.map(\.file.key)) {
            byKey[key]?.removeAll { $0.task == task }
            if byKey[key]?.isEmpty ?? false { byKey[key] = nil }
        }
        for download in plan.downloads {
            for digest in download.digests {
                byDigest[digest]?.removeAll { $0.task == task }
                if byDigest[digest]?.isEmpty ?? false { byDigest[digest] = nil }
            }
        }
    }
}

extension DownloadItem {
    /// The names of the part files that the download needs.
    var digests: [String] { [file.digest] + (patch.map { [$0.digest] } ?? []) }
}
