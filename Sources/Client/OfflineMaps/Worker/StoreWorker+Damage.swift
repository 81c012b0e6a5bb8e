internal import Foundation

/// What follows when readers and checks find files that are lost or damaged.
extension StoreWorker {
    /// A reader has found a file that cannot be read; returns when the rows say so.
    ///
    /// One that was adopted stays as it is: it cannot be downloaded again, and its other tiles can be read. Each read of a
    /// damaged tile fails in the same way, and `verify` names the file.
    func isDamaged(_ installed: InstalledFile) async {
        let place = folder.place(of: installed)
        // The look itself never fails.
        let absence = try? await onFiles { place.map { StoreScan.absence(of: $0) } ?? ENOENT }
        guard let known = committedRows.readable.first(where: { $0.path == installed.path }) else { return }
        if let number = absence, number == ENOENT || number == ENOTDIR {
            process(.lost(known.id))
        } else if known.state != .damaged {
            await noteDamage(of: known)
        }
        await settle()
    }

    /// Notes that a file is damaged, and lets the version before take its place when every byte of that one is right.
    ///
    /// A process that only reads asks the one that works.
    func noteDamage(of file: InstalledFile) async {
        guard !file.isAdopted else { return shared.events.send(.damaged(file.item)) }
        guard mode == .worker else {
            guard mode == .reader, file.state == .current else { return }
            // Nothing waits for the other process; when it does not answer, a later read finds the damage again.
            Task { _ = try? await submit(.noteDamage(file.id)) }
            return
        }
        process(.damaged(file.id))
        guard let before = earlierVersion(of: file.id.key) else { return }
        begin(nil, on: []) { worker in
            let folder = worker.folder
            // What cannot be read is not whole.
            let isWhole =
                (try? await worker.onFiles { StoreVerify.problem(before, in: folder, deep: true) == nil }) ?? false
            return isWhole && worker.earlierVersion(of: file.id.key) == before ? .givesWay(file.id) : nil
        }
    }

    /// The version that a file would go back to.
    private func earlierVersion(of key: InstalledFileKey) -> InstalledFile? {
        machine?.rows.files.versions(of: key).first { $0.state == .previous }
    }

    /// What is wrong with the files of the rows; in the process that works, a deep look also notes it.
    func findings(deep: Bool) async throws(StoreError) -> [(file: InstalledFile, finding: Finding)] {
        let (view, folder, life) = (try await view(), folder, life)
        let found = try await onFiles { StoreVerify.findings(view.rows, folder, deep: deep) }
        guard deep, mode == .worker, life == self.life else { return found }
        let faulty = Set(found.map(\.file.id))
        for file in view.rows.damaged where !faulty.contains(file.id) { process(.returned(file.id)) }
        let held = view.rows.held
        for (file, _) in found where file.state == .current && !file.isAdopted && held.contains(file.id.key) {
            let isThere = folder.place(of: file).map { StoreScan.absence(of: $0) == nil } ?? true
            process(isThere ? .damaged(file.id) : .lost(file.id))
        }
        await settle()
        return found
    }

    /// Lets a whole version take the place of a file.
    ///
    /// - Returns: Whether readers have a whole version.
    func giveUp(_ file: FileID) -> Bool {
        // What nothing needs goes.
        process(.damaged(file))
        process(.givesWay(file))
        return machine?.rows.current(file.key) != nil
    }

    /// Reads the damaged files that items hold to their ends: one whose bytes are right counts as whole again.
    ///
    /// A process can end between the arrival of a new file and its row, and a disk can fail for a moment.
    func proveDamage(of items: [Item]) async throws(StoreError) {
        guard let rows = machine?.rows else { return }
        let (life, folder) = (life, folder)
        let held = Set(rows.holds.filter { items.contains($0.item) }.map(\.key))
        let suspects = rows.damaged.filter { held.contains($0.id.key) && $0.isProvenByDigest }
        guard !suspects.isEmpty else { return }
        let whole = try await onFiles { suspects.filter { StoreVerify.problem($0, in: folder, deep: true) == nil } }
        for file in whole { process(.returned(file.id), life: life) }
    }
}
