@testable import OfflineMaps

extension SimWorld {
    /// One fault, or the end of one.
    func strike() {
        switch random.below(10) {
        case 0, 1: if swarm.network > 0 { setNetwork(!isUp) }
        case 2, 3: if server.newest < 5 { server.newest += 1 }
        case 4: if swarm.fullDisk { disk.others = random.perMille(500) ? disk.capacity - disk.used : 0 }
        case 5: if swarm.stops { halt() }
        case 6: if swarm.suspends, !isSuspending, machine != nil { suspend() }
        case 7: if swarm.crashes > 0 { crashNow() }
        case 8: if swarm.damages { damage() } else { process(.disk(free: disk.free)) }
        default: process(.forceOffline(random.perMille(200)))
        }
    }

    private func setNetwork(_ up: Bool) {
        isUp = up
        // The monitor is late, or says nothing.
        guard random.perMille(800) else { return }
        reportedNetwork = up ? random.pick([.free, .free, .expensive]) : .none
        post(Int64(random.within(0...3_000)), .event(.network(reportedNetwork), life: life))
    }

    private func halt() {
        run = run == .running ? .stopped : .running
        process(run == .running ? .start : .stop)
    }

    private func suspend() {
        isSuspending = true
        process(.suspend)
    }

    private func crashNow() { if machine != nil { crash() } }

    /// A read finds that a file is damaged; the version before takes its place when it is whole.
    private func damage() {
        let current = disk.rows.files.values.filter { $0.state == .current && $0.id.key.name != "t" }
        guard !current.isEmpty, machine != nil, pendingWrites.isEmpty else { return }
        let file = random.pick(current.sorted { $0.id < $1.id })
        process(.damaged(file.id))
        let hasEarlier = disk.rows.files.versions(of: file.id.key).contains { $0.state == .previous }
        if hasEarlier && random.perMille(500) {
            post(Int64(random.within(0...50)), .event(.givesWay(file.id), life: life))
        }
    }

    /// A request is a row of the inbox before the machine sees it, also that of another process.
    func ask(_ request: Request) {
        let id = RequestID(number: nextRequest)
        nextRequest += 1
        switch request {
        case .cancel(let task):
            lastCancel = now
            noteCancel(task)
        case .adopt(let files):
            adoptions[id] = files
            adopting.formUnion(files.map(\.file.id))
            lastCancel = now
            putInPlace(files)
        case .add(let task) where task.kind == .rollback: lastCancel = now
        case .retry(let task): checks.forgetWaits(of: task)
        case .add(let task) where task.kind == .remove: lastCancel = now
        case .add(let task):
            for known in disk.rows.tasks.values where known.items == task.items && known.failure != nil {
                checks.forgetWaits(of: known.id)
            }
        default: break
        }
        disk.inbox.append((id, request))
        process(.asked(id, request))
    }

    func add(_ kind: TaskKind, _ items: [Item], priority: Int32 = 0, together: Bool = false) -> Request {
        var record = TaskRecord(id: TaskID(number: 0), kind: kind, items: items, together: together)
        record.rule.priority = priority
        return .add(record)
    }

    func userRequest() -> Request {
        let tasks = disk.rows.tasks.keys.sorted()
        let task = tasks.isEmpty ? TaskID(number: 1) : random.pick(tasks)
        let item = random.pick(SimServer.items)
        let priority = Int32(random.pick([0, 0, 0, 1, 5, -1]))
        switch random.below(25) {
        case 20: return add(.rollback, [SimServer.package(random.below(SimServer.packages))])
        case 21: return .adopt(filesToAdopt())
        case 22...23: return add(.load, [SimServer.filled], priority: priority)
        case 16...18: return add(.load, [random.pick(SimServer.views)], priority: priority)
        case 0...2: return add(.list, [])
        case 3...7: return add(item.isRegion ? .load : .install, [item], priority: priority)
        case 8, 9:
            let first = random.below(SimServer.packages - 1)
            return add(.update, [SimServer.package(first), SimServer.package(first + 1)], together: true)
        case 10: return add(.remove, [item])
        case 11, 12: return .setPriority(task, priority)
        case 13: return .cancel(task)
        case 24:
            // The same begins again at once, preferably a pack that is being filled.
            let filling = disk.rows.tasks.values.filter { $0.items == [SimServer.filled] }.map(\.id).min()
            let items = disk.rows.tasks[filling ?? task]?.items ?? []
            post(Int64(random.within(0...40)), .userAdds(items))
            return .cancel(filling ?? task)
        case 14: return .retry(task)
        default: return .setNetworkRule(random.pick([.any, .any, .notExpensive]))
        }
    }

    /// All faults end.
    func heal() {
        isHealed = true
        isUp = true
        disk.others = 0
        reportedNetwork = .free
        note("HEAL")
        process(.network(.free))
        process(.forceOffline(false))
        process(.disk(free: disk.free))
        if run == .stopped, machine != nil, !isSuspending {
            run = .running
            process(.start)
        }
        wanted = Set(SimServer.items.filter { _ in random.perMille(600) })
        remind()
    }

    /// The user sees to it that the list is new, says what is to be there, and tries again what failed.
    func remind() {
        guard machine != nil, !isSuspending, adopting.isEmpty else { return post(500, .remind) }
        if machine?.network != .free { process(.network(.free)) }
        if disk.rows.catalog != server.newest {
            ask(.setNetworkRule(.any))
            ask(add(.list, []))
        } else if !isFinal {
            isFinal = true
            ask(.setQuota(Quota()))
            for item in SimServer.items where !wanted.contains(item) { ask(add(.remove, [item])) }
            for item in SimServer.items where wanted.contains(item) {
                ask(add(item.isRegion ? .load : .install, [item]))
            }
            for task in disk.rows.tasks.values.sorted(by: { $0.id < $1.id })
            where !Set(task.items).isDisjoint(with: SimServer.views) || task.kind == .rollback {
                ask(.cancel(task.id))
            }
            for task in disk.rows.tasks.keys.sorted() { ask(.setPriority(task, 0)) }
        } else {
            for task in disk.rows.tasks.values.sorted(by: { $0.id < $1.id }) where task.failure != nil {
                ask(.retry(task.id))
            }
        }
        if !isIdle { post(15_000, .remind) }
    }

    /// The end is that of an undisturbed run: exactly what is wanted, in the newest version, and nothing else.
    func checkEnd() {
        guard violation == nil, let machine else { return }
        let downloads = SimServer.items.filter(wanted.contains).flatMap { server.downloads(of: $0, server.newest) }
        let files = Set(downloads.filter { $0.source != .filled }.map(\.file))
        // Packs of no region may be there: they are a cache.
        let current = Set(
            disk.rows.files.values.filter {
                $0.state == .current && !$0.id.key.name.hasPrefix("v") && $0.id.key.name != "t"
            }.map(\.id))
        // Of a pack that several regions have, the newest state counts that one of them accepted.
        let lacking = files.filter { file in
            let there = disk.rows.current(file.key)?.id
            return file.key.isPack ? there?.version ?? 0 < file.version : there != file
        }
        if !lacking.isEmpty || Set(current.map(\.key)) != Set(files.map(\.key)) {
            return fail("at the end: missing \(lacking), there is \(current.subtracting(files))")
        }
        let pack = disk.rows.current(InstalledFileKey(name: "t", isPack: true))
        let expected = downloads.first { $0.source == .filled }
        if pack?.version != expected?.file.version { return fail("at the end: the filled pack is \(pack as Any)") }
        if let pack, disk.tiles[pack.sha256]?.count != SimServer.tiles {
            return fail("at the end: tiles are missing")
        }
        let holds = Set(
            downloads.compactMap { download in download.holder.map { Hold(key: download.file.key, item: $0) } })
        if disk.rows.holds != holds { return fail("at the end: the holds are wrong") }
        if Set(disk.files.keys) != Set(disk.rows.files.keys) { return fail("at the end: files without rows") }
        if !disk.parts.isEmpty { return fail("at the end: part files \(disk.parts.keys.sorted())") }
        if machine.rows != disk.rows { return fail("at the end: memory and disk differ") }
        if machine.used != disk.used { return fail("at the end: \(machine.used) is not \(disk.used)") }
    }
}

extension Item {
    var isRegion: Bool { if case .region = self { true } else { false } }
}
