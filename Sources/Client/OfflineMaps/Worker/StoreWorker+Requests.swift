internal import Foundation

extension StoreWorker {
    /// Asks something of the queue; returns when it is durable.
    ///
    /// - Throws: `disk-full`, `storage` when it cannot be written; `wrong-state` while the store is closed.
    func submit(_ request: Request) async throws(StoreError) -> Answer {
        switch mode {
        case .closed: throw Self.isClosed
        case .worker:
            let id = RequestID(number: -nextCall)
            nextCall += 1
            return try await withCheckedContinuation { continuation in
                calls[id] = Call(request: request, answer: continuation)
                process(.asked(id, request))
            }.get()
        case .reader:
            guard let database else { throw Self.isClosed }
            let id = try await onFiles { try database.addRequest(request) }
            return try await withCheckedContinuation { continuation in
                calls[id] = Call(request: request, answer: continuation)
                // The answer may have come before the call was noted.
                dataVersion = nil
            }.get()
        }
    }

    /// A request of another process.
    func addForeignRequest(_ id: RequestID, _ request: Request) {
        guard seenRequests.insert(id).inserted else { return }
        process(.asked(id, request))
    }

    func readRequests() async throws(StoreError) {
        guard let database else { return }
        let life = life
        let found = try await onFiles { try database.openRequests() }
        guard life == self.life else { return }
        for entry in found { addForeignRequest(entry.id, entry.request) }
    }

    /// Reads the rows that another process has changed, and sends the events of the changes.
    func readAgain() async throws(StoreError) {
        guard let database else { return }
        let asked = Set(calls.keys.filter { $0.number > 0 })
        let known = Set(knownTasks.keys)
        let (found, answers, ends) = try await onFiles {
            let answers = asked.isEmpty ? [:] : try database.takeAnswers(to: asked)
            let found = try database.rows()
            var over = known
            for case .task(let id) in answers.values { over.insert(id) }
            return (found, answers, try database.ends(of: over.subtracting(found.tasks.keys)))
        }
        guard mode == .reader else { return }
        let sequence = found.catalog
        // A task that has ended between two looks was never seen in its row.
        for (id, answer) in answers {
            guard case .task(let task) = answer, case .add(var record)? = calls[id]?.request else { continue }
            record.id = task
            if found.tasks[task] == nil { knownTasks[task] = record }
        }
        shared.web.follow(found.settings)
        let before = committedRows
        committedRows = found
        if before.files != found.files || before.faulty != found.faulty { showReaders() }
        if sequence != knownSequence {
            content = nil
            if knownSequence != nil { shared.events.send(.catalogUpdated) }
            knownSequence = sequence
        }
        report(from: before)
        report(found.tasks, ends)
        for (id, answer) in answers { calls.removeValue(forKey: id)?.answer.resume(returning: .success(answer)) }
    }

    private func report(from before: StoreRows) {
        func current(_ rows: StoreRows) -> [Item: InstalledFile] {
            let files = rows.readable.filter { !$0.id.key.isPack }
            return Dictionary(files.map { ($0.item, $0) }) { first, _ in first }
        }
        let (old, new) = (current(before), current(committedRows))
        for (item, row) in new {
            let known = old[item]
            if row.state == .damaged {
                if known?.state != .damaged { shared.events.send(.damaged(item)) }
            } else if known?.path != row.path || known?.state == .damaged {
                shared.events.send(.installed(item, version: row.version, changed: nil))
            }
        }
        for item in old.keys where new[item] == nil { shared.events.send(.removed(item)) }
    }

    private func report(_ tasks: [TaskID: TaskRecord], _ ends: [TaskID: TaskState]) {
        for (id, task) in tasks.sorted(by: { $0.key < $1.key }) where knownTasks[id] != task {
            shared.events.send(.task(Self.view(ofReader: task)))
        }
        for (id, task) in knownTasks.sorted(by: { $0.key < $1.key }) where tasks[id] == nil {
            var last = Self.view(ofReader: task)
            last.state = ends[id] ?? .done
            if last.state == .done { last.progress.fraction = 1 }
            shared.events.send(.task(last))
        }
        knownTasks = tasks
    }

    /// A task of the process that works, as far as its row says.
    ///
    /// - Parameter work: How far that process has said the task is.
    static func view(ofReader task: TaskRecord, _ work: TaskWork? = nil) -> StoreTask {
        let state: TaskState =
            if let cause = task.failure { .failed(cause) } else if task.rule.priority < 0 { .paused(.user) } else {
                .waiting(.otherProcess)
            }
        return StoreTask(
            id: task.id, kind: task.kind, items: task.items, priority: task.rule.priority, state: state,
            progress: work?.progress ?? TaskProgress(), failureText: task.failureText)
    }
}
