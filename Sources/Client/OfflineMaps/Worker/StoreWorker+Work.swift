internal import Foundation

/// Keeps how far the tasks are, for other processes and for the time after this one.
extension StoreWorker {
    /// How often that is kept.
    static let workInterval = Duration.seconds(2)

    /// Notes that the progress of a task has changed; the first time it is kept at once, because the plan names the part
    /// files.
    func noteWork(of id: TaskID) {
        guard machine?.plans[id] != nil else { return }
        changedWork.insert(id)
        let isNew = keptWork.insert(id).inserted
        if isNew { workSaving?.cancel() } else if workSaving != nil { return }
        workSaving = Task { [weak self] in
            do { try await Task.sleep(for: isNew ? .zero : Self.workInterval) } catch { return }
            await self?.keepWork()
        }
    }

    /// Writes what has changed.
    func keepWork() async {
        workSaving = nil
        guard let machine, let database else { return }
        var works: [TaskID: TaskWork] = [:]
        for id in changedWork {
            guard machine.rows.tasks[id] != nil, let plan = machine.plans[id] else { continue }
            works[id] = plan.work(machine.progress[id] ?? TaskProgress())
        }
        changedWork = []
        let found = works
        // Without it only the shown progress is of an earlier time.
        _ = try? await onFiles { try database.setWork(found) }
    }
}
