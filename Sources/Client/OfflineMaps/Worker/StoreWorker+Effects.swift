internal import Errors
internal import Files
internal import Foundation

extension StoreWorker {
    /// Begins what an effect asks for; nothing here waits.
    func perform(_ effect: Effect) {
        switch effect {
        case .write(let id, let changes): write(id, changes)
        case .answer(let id, let answer): calls.removeValue(forKey: id)?.answer.resume(returning: .success(answer))
        case .plan(let op, let task): begin(op, on: []) { await $0.plan(op, task) }
        case .list(let op): begin(op, on: []) { await $0.list(op) }
        case .fetch(let op, let download, let digest, from: _, let rate):
            fetch(op, download, into: digest, bytesPerSecond: rate)
        case .verify(let op, let download):
            begin(op, on: [download.file.digest]) { await $0.verify(op, download) }
        case .patch(let op, let download):
            let patch = [download.patch?.digest, download.patch?.base].compactMap { $0 }
            begin(op, on: Set([download.file.digest] + patch)) { await $0.patch(op, download) }
        case .prepare(let op, let download):
            begin(op, on: [download.file.digest]) { await $0.prepare(op, download) }
        case .stop(let op): stop(op)
        case .discard(let trash, let path): discard(trash, at: path)
        case .showReaders: showReaders()
        case .measureDisk: begin(nil, on: []) { await $0.measureDisk() }
        case .report(let event):
            shared.events.send(withChanges(event))
            if case .installed(let item, _, _) = event { expireViewed(item) }
            if case .task(let task) = event { noteWork(of: task.id) }
        case .alarm(let at): setAlarm(at)
        // `checkQuiet` looks at the machine and at what the worker itself still does.
        case .quiet: break
        }
    }

    /// Adds the tiles that a patch has changed to the event of its installation.
    private func withChanges(_ event: StoreEvent) -> StoreEvent {
        guard case .installed(let item, let version, changed: nil) = event, let rows = machine?.rows else {
            return event
        }
        let held = Set(rows.holds.filter { $0.item == item }.map(\.key))
        // The mask of one file says nothing about the others.
        guard held.count == 1, let key = held.first, let file = rows.current(key)?.id,
            let mask = changedTiles.removeValue(forKey: file)
        else { return event }
        return .installed(item, version: version, changed: mask)
    }

    private func setAlarm(_ at: Instant) {
        alarm?.cancel()
        let delay = max(0, at.milliseconds - now.milliseconds)
        alarm = Task { [life, weak self] in
            do { try await Task.sleep(for: .milliseconds(delay)) } catch { return }
            await self?.process(.alarm, life: life)
        }
    }

    /// Gives the readers the files of the rows.
    func showReaders() {
        let current = committedRows.readable
        shared.tiles.replace(current)
        do throws(StoreError) { try shared.resources.replace(current) } catch {
            // One style that cannot be read: the readers get the others.
            guard let bad = current.first(where: isUnreadableStyle) else { return }
            begin(nil, on: []) { worker in
                await worker.noteDamage(of: bad)
                return nil
            }
        }
    }

    private func isUnreadableStyle(_ installed: InstalledFile) -> Bool {
        guard installed.state == .current, case .style = installed.item else { return false }
        do throws(StoreError) {
            _ = try ResourceResolver(folder, [installed], tiles: shared.tiles)
            return false
        } catch { return true }
    }

    /// What was viewed of a tileset before its update is stale.
    private func expireViewed(_ item: Item) {
        let tilesets = Set(
            committedRows.files.values.filter { item.isMade(of: $0.item) && $0.state == .current }.compactMap(\.tileset)
        )
        guard !tilesets.isEmpty else { return }
        let ambient = shared.web.ambient
        begin(nil, on: []) { _ in
            // The call itself never fails.
            _ = try? await FileWork.run { for tileset in tilesets { ambient.expire(tileset: tileset) } }
            return nil
        }
    }

    // MARK: Disk

    private func measureDisk() async -> Event? {
        let folder = folder
        // A disk that cannot be measured counts as full until it can.
        let free = try? await FileWork.run { try Durable.freeBytes(folder.root) }
        guard let free else { return .disk(free: 0) }
        if free >= StoreMachine.diskMargin {
            // Without a reserve a full disk is reported by the write that meets it.
            _ = try? await FileWork.run { StoreReserve.make(folder) }
        }
        return .disk(free: free)
    }

    private func discard(_ trash: Trash, at path: String?) {
        switch trash {
        case .part(let digest):
            begin(nil, on: [digest]) { worker in
                await worker.removePart(digest)
                return .gone(trash)
            }
        case .file(let file):
            begin(nil, on: [file.digest]) { worker in
                await worker.removeFile(file, at: path)
                return .gone(trash)
            }
        }
    }

    func removePart(_ digest: String) async {
        guard let part = folder.part(sha256: digest) else { return }
        // What cannot be removed now is removed when the store is opened.
        _ = try? await FileWork.run {
            try Durable.remove(part)
            try Durable.remove(URL(filePath: part.path + "-journal"))
        }
    }

    private func removeFile(_ file: FileID, at path: String?) async {
        // A file that was adopted where it is has an absolute path, which `folder.file` refuses.
        guard let path, let place = folder.file(path),
            !committedRows.files.values.contains(where: { $0.path == path }),
            !committedRows.damaged.contains(where: { $0.path == path })
        else { return }
        let root = folder.root
        // A file that stays is found and removed when the store is opened.
        _ = try? await FileWork.run {
            try Durable.remove(place)
            if file.key.isPack {
                Durable.removeEmptyFolders(of: [place], upTo: root)
            } else {
                try FileInstaller.removeFolder(place.deletingLastPathComponent())
                Durable.removeEmptyFolders(of: [place.deletingLastPathComponent()], upTo: root)
            }
        }
    }
}
