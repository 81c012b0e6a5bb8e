@testable import OfflineMaps

extension SimWorld {
    func perform(_ effect: Effect) {
        switch effect {
        case .write(let id, let changes):
            if wrong?.shell == .removesFirst {
                for case .removeFile(let file) in changes { disk.files[file] = nil }
            }
            pendingWrites.append((id, changes))
            if wrong?.shell == .hastyWrites { process(.written(id)) }
            post(Int64(random.within(1...15)), .commit(id, changes, life: life))
        case .answer(let id, let answer): answered(id, answer)
        case .plan(let op, let task): start(op, .plan(task), in: 1...20)
        case .list(let op): start(op, .list, in: 20...400)
        case .fetch(let op, let download, let digest, let from, _):
            beginFetch(op, download, digest: digest, from: wrong?.shell == .forgetsPart ? 0 : from)
        case .verify(let op, let download): start(op, .verify(download), in: 5...300)
        case .patch(let op, let download): start(op, .patch(download), in: 10...500)
        case .prepare(let op, let download): start(op, .prepare(download), in: 2...30)
        case .stop(let op): if wrong?.shell != .ignoresStop { ops[op] = nil }
        case .discard(let trash, path: _):
            checks.discards += 1
            if case .file(let file) = trash { checks.credit[file.digest, default: 0] += disk.files[file]?.bytes ?? 0 }
            post(Int64(random.within(swarm.isSlow ? 1...400 : 1...40)), .discard(trash, life: life))
        case .measureDisk: post(1, .event(.disk(free: disk.free), life: life))
        case .report(let event): if let text = checks.report(event) { fail(text) }
        case .alarm(let at):
            if wrong?.shell == .forgetsAlarm { return }
            alarmNumber += 1
            post(max(0, at.milliseconds - now), .alarm(life: life, number: alarmNumber))
        case .quiet:
            if !ops.isEmpty || !pendingWrites.isEmpty { fail("the machine says that it is quiet and is not") }
            if isSuspending { handOver() }
        case .showReaders: break
        }
    }

    private func start(_ id: OpID, _ kind: SimOp.Kind, in delay: ClosedRange<Int>) {
        guard let task = machine?.ops[id]?.task else {
            return fail("operation \(id.number) is not known to the machine")
        }
        if case .plan = kind {
        } else if let time = checks.notBefore[task], now < time, kind.usesNetwork {
            return fail("a request of task \(task.number) begins \(time - now) ms before the server allows it")
        }
        if kind.isStep, let time = checks.noStepBefore[task], now < time {
            return fail("a step of task \(task.number) begins \(time - now) ms too early after a full disk")
        }
        ops[id] = SimOp(id: id, task: task, kind: kind)
        post(Int64(random.within(delay)), .op(id, life: life))
    }

    private func beginFetch(_ id: OpID, _ download: DownloadItem, digest: String, from: UInt64) {
        checks.lastFetch[digest] = now
        if download.isTile {
            let delay = swarm.isSlow && !isHealed ? 500...20_000 : 20...500
            return start(id, .fetch(download, digest: digest, isBad: false), in: delay)
        }
        let size = disk.parts[digest]?.size ?? 0
        if from > size { return fail("a download of \(digest) begins at \(from); the part file has \(size)") }
        if download.holder == nil, let start = disk.rows.settings.quota.evictionStart,
            disk.used + download.size - from > start
        {
            fail("\(digest), a pack of no region, is downloaded above \(start) bytes")
        }
        let clash = ops.values.contains { if case .fetch(_, digest, _) = $0.kind { true } else { false } }
        if clash { fail("two downloads write \(digest)") }
        disk.parts[digest] = SimDisk.Part(size: from, isBad: from > 0 && (disk.parts[digest]?.isBad ?? false))
        let isBad = faulty(swarm.server / 8)
        start(id, .fetch(download, digest: digest, isBad: isBad), in: 20...200)
    }

    /// The process lets go of the lock; another takes over.
    private func handOver() {
        note("HAND OVER")
        machine = nil
        life += 1
        checks.newLife()
        isSuspending = false
        run = .stopped
        post(Int64(random.within(10...2_000)), .open(life: life))
    }

    func faulty(_ share: Int) -> Bool { !isHealed && random.perMille(share) }

    func commit(_ id: WriteID, _ changes: [Change]) {
        // SQLite has one writer: a write that is ready waits for those before it.
        guard let first = pendingWrites.first else { return }
        if first.id != id { return post(1, .commit(id, changes, life: life)) }
        pendingWrites.removeFirst()
        apply(changes)
        if violation == nil && wrong?.shell != .hastyWrites { process(.written(id)) }
    }

    func apply(_ changes: [Change]) {
        let before = disk.rows
        var adopted: Set<FileID> = []
        for change in changes {
            disk.rows.apply(change)
            if case .file(let file) = change, file.state == .damaged { damageBytes(of: file) }
            if case .catalog = change { (checks.notBefore, checks.noStepBefore) = ([:], [:]) }
            if case .answered(let id, _) = change {
                guard let asked = disk.inbox.first(where: { $0.id == id }) else {
                    fail("request \(id.number) was handled twice")
                    continue
                }
                if case .adopt(let files) = asked.request { adopted.formUnion(files.map(\.file.id)) }
                disk.inbox.removeAll { $0.id == id }
            }
        }
        if let text = checks.transaction(before, disk, server, adopted: adopted) { fail(text) }
    }

    private func damageBytes(of file: InstalledFile) {
        disk.files[file.id]?.isBad = true
        checks.credit[file.sha256, default: 0] += file.bytes
    }

    /// A call gets its answer.
    private func answered(_ id: RequestID, _ answer: Answer) {
        if let text = checks.answer(id, answer, disk) { fail(text) }
        guard let files = adoptions.removeValue(forKey: id) else { return }
        if answer == .busy {
            post(Int64(random.within(20...200)), .adopt(files))
        } else {
            adopting.subtract(files.map(\.file.id))
            lastAdoption = now
            if answer == .done, let lost = files.first(where: { disk.rows.files[$0.file.id]?.state != .current }) {
                fail("\(lost.file.sha256) was adopted and is not installed")
            }
        }
    }

    func discard(_ trash: Trash) {
        checks.discards -= 1
        switch trash {
        case .part where wrong?.shell == .leavesParts: break
        case .part(let digest):
            if disk.files.keys.allSatisfy({ $0.digest != digest }) { disk.tiles[digest] = nil }
            if let part = disk.parts.removeValue(forKey: digest) {
                if !part.isBad && part.size > 0 && now - lastCancel > 1_000 && needs(digest) {
                    fail("the part file \(digest) was removed while a task needs it")
                }
                checks.credit[digest, default: 0] += part.size
            }
            if ops.values.contains(where: { if case .fetch(_, digest, _) = $0.kind { true } else { false } }) {
                fail("the part file \(digest) was removed under a download")
            }
        case .file(let file):
            if disk.rows.files[file] != nil || disk.rows.faulty[file]?.state == .damaged {
                fail("\(file.digest) was removed while it is installed")
            }
            disk.files[file] = nil
            disk.tiles[file.digest] = nil
        }
        process(.gone(trash))
    }

    /// Whether a task of the queue downloads the whole file of this digest.
    private func needs(_ digest: String) -> Bool {
        disk.rows.tasks.values.contains { task in
            guard task.failure == nil, machine?.rows.tasks[task.id] != nil, machine?.rows.catalog == disk.rows.catalog
            else { return false }
            return task.items.flatMap { server.downloads(of: $0, disk.rows.catalog) }.contains { download in
                download.file.digest == digest && disk.rows.files[download.file] == nil
                    && disk.files[download.file] == nil
                    && task.kind.hasPlan
            }
        }
    }
}
