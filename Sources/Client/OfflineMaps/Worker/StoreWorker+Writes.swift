internal import Files
internal import Foundation

extension StoreWorker {
    /// Puts a transaction at the end of those that wait.
    func write(_ id: WriteID, _ changes: [Change]) {
        writes.append((id, changes))
        guard !isWriting else { return }
        isWriting = true
        let life = life
        Task { await writeAll(life) }
    }

    private func writeAll(_ life: Int) async {
        while life == self.life, let next = writes.first, let database {
            var details = ChangeDetails()
            for case .catalog(let sequence) in next.changes where candidate?.sequence == sequence {
                details.catalog = candidate?.list
            }
            for case .endTask(let id) in next.changes { details.ends[id] = machine?.ending[id]?.end }
            let known = details
            do throws(StoreError) {
                try await onFiles { try database.apply(next.changes, known) }
            } catch {
                if life == self.life { await openAgain(after: error) }
                return
            }
            guard life == self.life else { return }
            failedWrites = 0
            writes.removeFirst()
            applyToMemory(next.changes)
            process(.written(next.id), life: life)
        }
        if life == self.life { isWriting = false }
        checkQuiet()
    }

    /// Keeps in memory what a transaction has changed.
    private func applyToMemory(_ changes: [Change]) {
        for change in changes {
            committedRows.apply(change)
            guard case .catalog(let sequence) = change else { continue }
            if candidate?.sequence == sequence { content = candidate?.list.verified.content }
            candidate = nil
        }
    }

    /// A write has failed: as after a crash, the store is opened again, and a new machine continues from the rows.
    private func openAgain(after error: StoreError) async {
        let before = machine.map { $0.rows.tasks.merging($0.ending.mapValues(\.record)) { $1 } } ?? [:]
        endLife()
        failedWrites += 1
        if error.code == .diskFull {
            // Space for the journal of the next write; measuring the disk makes the reserve again.
            _ = try? await onFiles { [folder] in try StoreReserve.release(folder) }
        }
        failCalls(error)
        await closeDatabase()
        let life = life
        var wait = Duration.milliseconds(100 << min(failedWrites, 8))
        while life == self.life, lock != nil {
            // Cancelled or not, the store is opened again.
            try? await Task.sleep(for: wait)
            guard life == self.life, lock != nil else { return }
            do throws(StoreError) {
                try await openAsWorker(isNamed: false)
                return try await reportEnds(of: before)
            } catch { wait = min(wait * 2, .seconds(30)) }
        }
    }

    /// Reports the tasks that a write has ended although the disk reported its failure.
    private func reportEnds(of before: [TaskID: TaskRecord]) async throws(StoreError) {
        guard let database, let machine else { return }
        let gone = Set(before.keys).subtracting(machine.rows.tasks.keys)
        guard !gone.isEmpty else { return }
        let ends = try await onFiles { try database.ends(of: gone) }
        for (id, end) in ends.sorted(by: { $0.key < $1.key }) {
            guard let record = before[id] else { continue }
            var last = Self.view(ofReader: record)
            last.state = end
            if end == .done { last.progress.fraction = 1 }
            shared.events.send(.task(last))
        }
    }

    /// Ends what the machine does; its later events are ignored.
    func endLife() {
        life += 1
        machine = nil
        alarm?.cancel()
        for job in jobs.values { job.task.cancel() }
        jobOf = [:]
        writes = []
        isWriting = false
        seenRequests = []
        candidate = nil
        (changedWork, keptWork) = ([], [])
        workSaving?.cancel()
        workSaving = nil
        wakeSettling()
    }

    /// The calls of this process that were not answered get an error; requests with rows stay.
    func failCalls(_ error: StoreError) {
        for (id, call) in calls where id.number < 0 {
            calls[id] = nil
            call.answer.resume(returning: .failure(error))
        }
    }
}
