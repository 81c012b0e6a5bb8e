internal import Foundation

extension StoreWorker {
    /// Takes the lock and begins to work, or reads while another process works.
    func open() async throws(StoreError) {
        guard mode == .closed, !isOpening else { return }
        isOpening = true
        defer { isOpening = false }
        servers.forgetRefusals()
        if lock == nil { lock = try StoreLock.acquire(folder.lock) }
        if lock != nil { try await openAsWorker(isNamed: true) } else { try await openAsReader() }
        shared.onDamage { [weak self] in await self?.isDamaged($0) }
        startWatching()
    }

    /// Opens the rows with a new machine; this process holds the lock.
    func openAsWorker(isNamed: Bool) async throws(StoreError) {
        let (folder, options) = (folder, options)
        for job in jobs.values { await job.task.value }
        let found = try await onFiles { try StoreOpening(folder, options, isNamed: isNamed) }
        guard lock != nil else { return }
        guard !found.database.isNewer else {
            lock?.release()
            lock = nil
            return try await openAsReader()
        }
        endLife()
        database = found.database
        committedRows = found.rows
        content = nil
        dataVersion = nil
        mode = .worker
        suspended = nil
        shared.setRole(.worker)
        var machine = StoreMachine(found.rows, seed: UInt64.random(in: 0 ... .max))
        machine.works = found.works
        self.machine = machine
        process(.opened(parts: found.parts, prepared: found.prepared, free: found.free))
        for file in found.lost { process(.lost(file)) }
        for file in found.returned { process(.returned(file)) }
        process(.network(network))
        process(.forceOffline(isForcedOffline))
        for entry in found.requests { addForeignRequest(entry.id, entry.request) }
        for (id, call) in calls.sorted(by: { $0.key.number > $1.key.number }) where id.number < 0 {
            process(.asked(id, call.request))
        }
        if let started { process(started.event) }
        showReaders()
        leftovers = found.left
        // The next call already sees which files are missing and which are back.
        if !found.lost.isEmpty || !found.returned.isEmpty { await settle() }
    }

    func openAsReader() async throws(StoreError) {
        let folder = folder
        endLife()
        database = try await onFiles { try StoreDatabase.open(folder, isWorker: false) }
        mode = .reader
        suspended = nil
        dataVersion = nil
        knownTasks = [:]
        shared.setRole(.reader)
        try await readAgain()
    }

    /// Begins to do the tasks of the queue, or only those that read the list.
    func startTasks(_ work: StoreWork) async throws(StoreError) {
        if started != .all { started = work }
        if mode == .closed { try await open() }
        process(work.event)
    }

    /// Stops the tasks; returns when nothing is under way.
    func stopTasks() async {
        started = nil
        process(.stop)
        await quiet()
        await keepWork()
    }

    /// Stops the tasks and releases lock and database; `start` takes them again.
    func suspend() async {
        started = nil
        process(.suspend)
        await quiet()
        await keepWork()
        // Without it reading calls throw until the next start.
        suspended = try? await view()
        await close()
    }

    /// Returns when what was decided until now is written, for readers too, and when the bytes of what is being removed are
    /// gone.
    ///
    /// It also returns when this process stops working.
    func settle() async {
        let (life, last) = (life, writes.last?.id)
        guard let leaving = machine?.trash.keys else { return }
        while life == self.life, let machine,
            writes.contains(where: { entry in last.map { entry.id <= $0 } ?? false })
                || leaving.contains(where: { machine.trash[$0] != nil })
        {
            await withCheckedContinuation { settleCalls.append($0) }
        }
    }

    /// Looks whether missing files are at their places again, for example because a card was put in.
    private func lookForMissing() async {
        guard mode == .worker, let missing = machine?.rows.missing, !missing.isEmpty else { return }
        let (life, folder, known) = (life, folder, notWhole)
        // The look itself never fails; the next one is in two seconds.
        let looks = try? await onFiles {
            missing.map { StoreVerify.look(for: $0, in: folder, notWhole: known[$0.id]) }
        }
        guard let looks, life == self.life else { return }
        notWhole = [:]
        for look in looks where !look.isBack { notWhole[look.file] = look.stamp }
        for look in looks where look.isBack { process(.returned(look.file), life: life) }
    }

    func quiet() async {
        while !isQuiet { await withCheckedContinuation { quietCalls.append($0) } }
    }

    /// Lets go of everything at once, as a process that ends; the rows and files are whole at every moment.
    func close() async {
        endLife()
        watch?.cancel()
        networkWatch?.cancel()
        mode = .closed
        shared.setRole(.reader)
        failCalls(Self.isClosed)
        for (id, call) in calls {
            calls[id] = nil
            call.answer.resume(returning: .failure(Self.isClosed))
        }
        let running = jobs.values.map(\.task)
        for job in running { await job.value }
        await closeDatabase()
        lock?.release()
        lock = nil
        shared.web.ambient.close()
        checkQuiet()
    }

    /// Closes the connection of the database; one that cannot be closed goes with its object.
    func closeDatabase() async {
        let old = database
        database = nil
        // What cannot be closed goes with the object.
        _ = try? await onFiles { try old?.close() }
    }

    static var isClosed: StoreError {
        StoreError(.wrongState, "The store is suspended or closed.", advice: "Call start() first.")
    }

    func setNetwork(_ state: NetworkState) {
        network = state
        shared.web.permission.set(network: state)
        process(.network(state))
    }

    func forceOffline(_ on: Bool) {
        isForcedOffline = on
        shared.web.permission.set(isForcedOffline: on)
        process(.forceOffline(on))
    }

    // MARK: Watching

    /// Looks every 100 ms whether another process has changed the database; a reader also looks for the lock.
    private func startWatching() {
        watch?.cancel()
        watch = Task { [weak self] in
            var count = 0
            while !Task.isCancelled {
                do { try await Task.sleep(for: .milliseconds(100)) } catch { return }
                guard let self else { return }
                count += 1
                await self.checkDatabase(andLock: count.isMultiple(of: 3))
                if count.isMultiple(of: 20) { await self.lookForMissing() }
            }
        }
        guard let monitor = options.monitor else { return }
        networkWatch?.cancel()
        networkWatch = Task { [weak self] in
            for await state in monitor.states() {
                guard let self else { return }
                await self.setNetwork(state)
            }
        }
    }

    private func checkDatabase(andLock checksLock: Bool) async {
        if mode == .reader, checksLock, database?.isNewer == false, lock == nil {
            await takeOver()
        }
        guard let database, mode != .closed else { return }
        do throws(StoreError) {
            let version = try await onFiles { try database.dataVersion() }
            guard version != dataVersion else { return }
            dataVersion = version
            switch mode {
            case .reader: try await readAgain()
            case .worker: try await readRequests()
            case .closed: break
            }
        } catch {
            // A reader looks again; a worker finds the fault with its next write.
            dataVersion = nil
        }
    }

    /// The process that worked has ended: this one continues its tasks.
    private func takeOver() async {
        do throws(StoreError) {
            guard let free = try StoreLock.acquire(folder.lock) else { return }
            lock = free
            await closeDatabase()
            try await openAsWorker(isNamed: false)
        } catch {
            lock?.release()
            lock = nil
            // The next look tries again.
            if database == nil { try? await openAsReader() }
        }
    }
}

extension StoreWork {
    /// The event that begins this work in the machine.
    fileprivate var event: Event { self == .all ? .start : .startReading }
}
