internal import Files
internal import Foundation

extension MapStore {
    /// Compares the installed files with their rows: which are missing, and which are damaged.
    ///
    /// In the process that works, what every byte of a file says is noted: a map that is damaged stays, and
    /// ``OfflineMaps/download(_:style:)``, ``update(_:together:)`` and ``repair()`` download it again; one that counted as damaged
    /// and is whole counts as whole.
    ///
    /// - Parameter deep: Reads every byte and compares the SHA-256; otherwise only the sizes are compared, and of files that
    ///   were adopted where they are also the time of change.
    public func verify(deep: Bool) async throws(StoreError) -> [Finding] {
        try await worker.findings(deep: deep).map(\.finding)
    }

    /// Verifies every byte and mends what can be mended: a damaged or missing file goes back to its previous version when that is
    /// whole, or a task downloads it again.
    ///
    /// A damaged map stays, and is read, until the new file has arrived and every byte of it was checked. Before a task is added
    /// for it, the server is asked for the catalog; when it does not answer, no task is added. What cannot be downloaded again
    /// stays as it is: files that the catalog does not have.
    ///
    /// - Throws: `wrong-state` while another process does the work; `network` and `catalog` when the catalog cannot be read;
    ///   `not-in-catalog` when the store has none.
    public func repair() async throws(StoreError) -> [Finding] {
        guard role == .worker else { throw Self.isReader }
        let found = try await worker.findings(deep: true)
        let before = try await worker.view()
        let faulty = Set(found.map(\.file.id))
        // What readers get, and no whole version can take its place.
        let wanted = found.map(\.file).filter { file in
            before.rows.readable(file.id.key)?.id == file.id && !file.isOutside
                && before.rows.held.contains(file.id.key)
                && !before.rows.files.versions(of: file.id.key).contains {
                    $0.state == .previous && !faulty.contains($0.id)
                }
        }
        if wanted.contains(where: { file in before.holders(mending: file).contains { !$0.isRegion } }) {
            try await askForCatalog()
        }
        let view = try await worker.view()
        let stays = Set(wanted.map(\.id))
        var findings: [Finding] = []
        // Before a map could go back to one of them.
        for (file, _) in found where file.state == .previous { _ = await worker.giveUp(file.id) }
        for (file, finding) in found {
            var finding = finding
            guard file.state != .previous else {
                finding.isMended = true
                findings.append(finding)
                continue
            }
            let holders = view.holders(mending: file)
            if stays.contains(file.id), !holders.contains(where: view.mayDownload) {
                if !file.isAdopted { finding.problem += " The catalog does not have it any more, so it stays." }
            } else if !file.isOutside, !file.isAdopted || !holders.isEmpty {
                if !stays.contains(file.id) { finding.isMended = await worker.giveUp(file.id) }
                guard !finding.isMended else {
                    findings.append(finding)
                    continue
                }
                for item in holders { finding.task = try await install([item]).first }
                finding.isMended = finding.task != nil || holders.isEmpty
            }
            findings.append(finding)
        }
        // A process that ends after this call leaves no damaged file that a later one could take for whole.
        await worker.settle()
        return findings
    }

    /// Files and folders below the folder of the store that belong to nothing and could not be removed when it was opened,
    /// and installed files that may not be read.
    ///
    /// The store works without them; the next opening tries again.
    public var leftovers: [Finding] { get async { await worker.leftovers } }

    /// Removes everything: items, regions, tasks, part files, the catalog; what is known of the catalog's age stays,
    /// so that an older catalog is refused later too.
    ///
    /// - Throws: `wrong-state` while another process does the work.
    public func reset() async throws(StoreError) {
        guard role == .worker else { throw Self.isReader }
        try await worker.reset()
    }

    /// Reads the catalog from its server, so that a task is added only for what can be downloaded now.
    private func askForCatalog() async throws(StoreError) {
        guard worker.options.catalog != nil else {
            throw StoreError(
                .notInCatalog, "The store has no catalog to download the damaged files from; they stay as they are.",
                advice: "Set StoreOptions.catalog.")
        }
        if await worker.started == nil { try await start(.catalog) }
        try await refreshCatalog(ifOlderThan: .zero)
    }

    private static var isReader: StoreError {
        StoreError(.wrongState, "Another process does the work of this store.", advice: "Call it in that process.")
    }
}

extension StoreView {
    /// The items for which a file is downloaded again; none for an adopted file whose items the catalog does not have.
    fileprivate func holders(mending file: InstalledFile) -> [Item] {
        rows.holders(of: file.id.key).map(\.item).filter { !file.isAdopted || isOffered($0) }
    }

    fileprivate func mayDownload(_ item: Item) -> Bool { item.isRegion || isOffered(item) }

    private func isOffered(_ item: Item) -> Bool { content?.offer(of: item) != nil || content?.style(of: item) != nil }
}

extension StoreWorker {
    /// Stops, removes all files besides the lock, and opens an empty store.
    func reset() async throws(StoreError) {
        let before = started
        await stopTasks()
        guard let machine, let old = database else { throw Self.isClosed }
        let sequences = machine.rows.sequences.sorted { $0.key < $1.key }
        let held = Set(machine.rows.holds.map(\.item)).sorted { $0.key < $1.key }
        endLife()
        committedRows = StoreRows()
        showReaders()
        database = nil
        let (folder, ambient) = (folder, shared.web.ambient)
        try await onFiles {
            try old.close()
            ambient.clear()
            for url in [folder.units, folder.packs, folder.parts, folder.filling] {
                try FileInstaller.removeFolder(url)
            }
            for suffix in ["-journal", "-wal", "-shm", ""] {
                try Durable.remove(URL(filePath: folder.database.path + suffix))
            }
            try folder.make()
            let new = try StoreDatabase.open(folder, isWorker: true)
            try new.apply(sequences.map { .sequence($0.key, $0.value) })
            try new.close()
        }
        started = before
        try await openAsWorker(isNamed: true)
        for item in held { shared.events.send(.removed(item)) }
        shared.events.send(.regions)
    }
}
