@testable import OfflineMaps

extension SimWorld {
    /// The next step of an operation.
    func step(_ id: OpID) {
        guard let op = ops[id] else { return }
        switch op.kind {
        case .plan(let task):
            // What arrived before a crash and has no row yet.
            for file in disk.rows.damaged.sorted(by: { $0.id < $1.id }) where disk.files[file.id]?.isBad == false {
                process(.returned(file.id))
            }
            guard ops[id] != nil else { return }
            ops[id] = nil
            process(.planned(id, server.plan(task, disk)))
        case .list: list(id, op.task)
        case .fetch(let download, let digest, let isBad): fetch(id, op, download, digest, isBad)
        case .verify(let download):
            ops[id] = nil
            let part = disk.parts[download.file.digest]
            let isRight = part?.isBad == false && part?.size == download.size || wrong?.shell == .trustsBytes
            process(isRight ? .verified(id) : .wrong(id))
        case .patch(let download): patch(id, op.task, download)
        case .prepare(let download): prepare(id, download)
        }
    }

    /// The server has said when the task may come back.
    private func remember(_ fault: FetchFault, _ task: TaskID) {
        guard case .status(let status, let wait?) = fault, status == 503 || status == 429 else { return }
        checks.notBefore[task] = max(checks.notBefore[task] ?? 0, now + min(wait, 3_600_000))
    }

    private func list(_ id: OpID, _ task: TaskID) {
        ops[id] = nil
        if let fault = networkFault() ?? serverFault() {
            remember(fault, task)
            return process(.listed(id, .fault(fault)))
        }
        if faulty(swarm.server / 4) { return process(.listed(id, .bad(random.pick([.badCatalog, .badSignature])))) }
        let old = swarm.olderLists && faulty(300) && server.newest > 1
        let sequence = old ? server.newest - 1 : server.newest
        process(.listed(id, .new(sequence: sequence, sources: ["address", "key"])))
    }

    private func networkFault() -> FetchFault? {
        if !isUp { return random.perMille(700) ? .noConnection : .broken }
        return faulty(swarm.network) ? .portal : nil
    }

    private func serverFault() -> FetchFault? {
        guard faulty(swarm.server) else { return nil }
        switch random.below(12) {
        case 0...3: return .status(random.pick([500, 500, 502]), retryAfter: nil)
        case 4: return .status(503, retryAfter: Int64(random.within(1_000...90_000)))
        case 5: return .status(429, retryAfter: random.perMille(200) ? 7_200_000 : nil)
        case 6: return .status(404, retryAfter: nil)
        case 7: return .status(random.pick([401, 402, 403]), retryAfter: nil)
        default: return .broken
        }
    }

    private func fetch(_ id: OpID, _ op: SimOp, _ download: DownloadItem, _ digest: String, _ isBad: Bool) {
        if download.isTile { return tile(id, op, download) }
        let target = digest == download.file.digest ? download.size : download.patch?.size ?? 0
        var part = disk.parts[digest] ?? SimDisk.Part(size: 0)
        let fault =
            networkFault() ?? serverFault() ?? (server.has(digest, of: download) ? nil : .status(404, retryAfter: nil))
        if let fault {
            ops[id] = nil
            remember(fault, op.task)
            return process(.fetchFailed(id, fault))
        }
        if part.size > 0 && faulty(swarm.server / 10) {
            // The server does not continue: it sends everything again.
            checks.credit[digest, default: 0] += part.size
            part = SimDisk.Part(size: 0)
            disk.parts[digest] = part
            process(.received(id, size: 0))
            guard ops[id] != nil else { return }
        }
        let rate = swarm.isSlow && !isHealed ? 20_000...300_000 : 200_000...3_000_000
        let bytes = min(target - min(target, part.size), UInt64(random.within(rate)))
        if bytes > disk.free {
            ops[id] = nil
            return process(.fetchFailed(id, .diskFull))
        }
        part.size += bytes
        if isBad || digest.contains(">") && server.brokenPatches { part.isBad = part.isBad || bytes > 0 }
        disk.parts[digest] = part
        checks.sent[digest, default: 0] += bytes
        checks.target[digest] = target
        if let text = checks.space(self) ?? checks.twice(digest) { return fail(text) }
        if part.size >= target {
            process(.received(id, size: part.size))
            guard ops[id] != nil else { return }
            ops[id] = nil
            return process(.fetched(id))
        }
        post(Int64(random.within(20...400)), .op(id, life: life))
        process(.received(id, size: part.size))
    }

    private func tile(_ id: OpID, _ op: SimOp, _ download: DownloadItem) {
        if let fault = networkFault() ?? serverFault() {
            ops[id] = nil
            remember(fault, op.task)
            if case .status = fault { checks.refusedFiles.insert(download.file.key) }
            return process(.fetchFailed(id, fault))
        }
        let parts = download.file.digest.split(separator: "/")
        guard parts.count == 2, let index = Int(parts[1]) else { return fail("\(download.file.digest) is no tile") }
        if disk.free < download.size {
            ops[id] = nil
            return process(.fetchFailed(id, .diskFull))
        }
        let pack = String(parts[0])
        if disk.parts[pack] == nil {
            // It begins as a copy of the current version.
            let copied = disk.rows.current(download.file.key)?.bytes ?? 0
            if copied + download.size > disk.free {
                ops[id] = nil
                return process(.fetchFailed(id, .diskFull))
            }
            disk.parts[pack] = SimDisk.Part(size: copied)
        }
        if index == 3 {
            // The server has no such tile: the pack notes that.
            disk.tiles[pack, default: []].insert(index)
            ops[id] = nil
            return process(.fetched(id))
        }
        if !disk.tiles[pack, default: []].insert(index).inserted { fail("\(download.file.digest) is downloaded again") }
        disk.parts[pack, default: SimDisk.Part(size: 0)].size += download.size
        if let text = checks.space(self) { return fail(text) }
        ops[id] = nil
        process(.received(id, size: download.size))
        process(.fetched(id))
    }

    private func patch(_ id: OpID, _ task: TaskID, _ download: DownloadItem) {
        ops[id] = nil
        guard let patch = download.patch, let part = disk.parts[patch.digest], !part.isBad, part.size == patch.size,
            disk.files.contains(where: { $0.key.digest == patch.base && !$0.value.isBad })
        else { return process(.wrong(id)) }
        let before = disk.parts[download.file.digest]?.size ?? 0
        if download.size - min(before, download.size) > disk.free {
            checks.noStepBefore[task] = now + StoreMachine.diskInterval
            return process(.fileFailed(id, isFull: true))
        }
        checks.credit[download.file.digest, default: 0] += before
        disk.parts[download.file.digest] = SimDisk.Part(size: download.size)
        if let text = checks.space(self) { return fail(text) }
        process(.verified(id))
    }

    private func prepare(_ id: OpID, _ download: DownloadItem) {
        ops[id] = nil
        if disk.rows.files[download.file] != nil {
            return fail("\(download.file.digest) is put over an installed file")
        }
        if download.source == .filled { return prepareFilled(id, download) }
        guard let part = disk.parts.removeValue(forKey: download.file.digest) else {
            return fail("\(download.file.digest) is prepared without its part file")
        }
        disk.files[download.file] = (part.size, part.isBad || part.size != download.size)
        process(.prepared(id, download.file, bytes: part.size))
    }

    /// A pack that grows also has the tiles of the one before.
    private func prepareFilled(_ id: OpID, _ download: DownloadItem) {
        let digest = download.file.digest
        if digest.hasSuffix("+") {
            disk.tiles[digest, default: []].formUnion(disk.tiles[String(digest.dropLast())] ?? [])
        }
        if disk.tiles[digest]?.count ?? 0 < SimServer.tiles && !checks.refusedFiles.contains(download.file.key) {
            return fail("\(digest) is complete without all of its tiles")
        }
        _ = disk.parts.removeValue(forKey: digest)
        disk.files[download.file] = (UInt64(disk.tiles[digest]?.count ?? 0) * SimServer.tileSize, false)
        if let text = checks.space(self) { return fail(text) }
        process(.prepared(id, download.file, bytes: disk.files[download.file]?.bytes ?? 0))
    }
}
