extension StoreMachine {
    /// Makes files current that are at their places, in one write.
    ///
    /// A version that is installed is replaced as by an update. Earlier tasks of the items are cancelled.
    mutating func adopt(_ files: [AdoptedFile]) -> Answer {
        func isLeaving() -> Bool { files.contains { trash[.file($0.file.id)] != nil } }
        if isLeaving() { return .busy }
        // It has taken the place of the damaged file with the same name already, and needs no space in addition.
        for file in files.map(\.file) where rows.faulty[file.id]?.state == .damaged { returned(file.id, as: file) }
        let new = files.map(\.file).filter { rows.files[$0.id] == nil }
        if let limit = limitExceeded(by: new) {
            for file in new {
                addPrepared(file)
                discardPrepared(file.id)
            }
            return .limited(limit)
        }
        // The eviction may have taken one of them.
        if isLeaving() { return .busy }
        // A cancelled task must not discard what it has prepared under the same name.
        for file in new { removePrepared(file.id) }
        cancelAll(of: files.map(\.holder), but: nil)
        for adopted in files {
            // What another task does for the same file has become useless.
            if let op = ops.on(adopted.file.sha256)?.id { stop(op) }
            if rows.files[adopted.file.id] == nil { addPrepared(adopted.file) }
            swap(DownloadItem(holder: adopted.holder, file: adopted.file.id, size: adopted.file.bytes))
        }
        return .done
    }

    /// Why files may not be adopted; makes space by evictions first.
    private mutating func limitExceeded(by new: [InstalledFile]) -> Limit? {
        let quota = rows.settings.quota
        let packs = heldPacks(with: new.map(\.id.key).filter(\.isPack))
        if new.contains(where: \.id.key.isPack) && !rules.allowsPacks(packs, quota) {
            return .tilePacks(needed: packs, allowed: quota.tilePacks)
        }
        guard let bytes = rules.allowedBytes(quota, false), let start = quota.evictionStart else { return nil }
        let known = Dictionary(new.map { ($0.id, $0.bytes) }) { first, _ in first }
        // A file that was left by a crash counts already.
        let need = known.reduce(0) { $0 + (preparedFiles[$1.key] == nil ? $1.value : 0) }
        let total = used + inFlight + need
        if total > start { evict(total - start) }
        let leaving = trash.values.reduce(0, +)
        let needed = used + inFlight + need - leaving
        return needed > bytes ? .quota(needed: needed, allowed: bytes) : nil
    }

    /// Notes when files were read last.
    mutating func used(_ times: [FileID: Int64]) {
        for (file, time) in times.sorted(by: { $0.key < $1.key }) {
            guard var read = rows.files[file], read.usedAt < time else { continue }
            read.usedAt = time
            change(.file(read))
        }
    }
}
