@testable import OfflineMaps

extension SimWorld {
    /// One or two packages, of this list or an earlier one.
    func filesToAdopt() -> [AdoptedFile] {
        let first = random.below(SimServer.packages)
        let list = UInt64(random.within(1...Int(server.newest)))
        return (0..<random.within(1...2)).map { index in
            let item = SimServer.package((first + index) % SimServer.packages)
            let download = server.downloads(of: item, list)[0]
            return AdoptedFile(file: InstalledFile(download.file, bytes: download.size), holder: item)
        }
    }

    /// The files are complete at their places before the request, as after a rename.
    func putInPlace(_ files: [AdoptedFile]) {
        guard wrong?.shell != .adoptsNothing else { return }
        for adopted in files { disk.files[adopted.file.id] = (adopted.file.bytes, false) }
    }

    /// A cancelled task leaves no part file: it is looked for a little later.
    func noteCancel(_ id: TaskID) {
        guard let task = disk.rows.tasks[id], let machine, machine.rows.tasks[id] != nil else { return }
        let digests = Set(task.items.flatMap { server.downloads(of: $0, disk.rows.catalog) }.flatMap(\.digests))
        post(500, .cancelled(digests, life: life))
    }

    func checkCancelled(_ digests: Set<String>) {
        guard let machine else { return }
        let tasks = machine.rows.tasks.values
        // The part files of a task that has no plan yet, for example a paused one, are not known.
        guard tasks.allSatisfy({ !$0.kind.hasPlan || machine.plans[$0.id] != nil }) else { return }
        let needed = Set(
            tasks.flatMap(\.items).flatMap { server.downloads(of: $0, machine.rows.catalog) }.flatMap(\.digests))
        let left = disk.parts.keys.filter { digest in
            digests.contains(digest) && !needed.contains(digest) && checks.lastFetch[digest] ?? 0 < now - 500
        }
        if let digest = left.min() { fail("the part file \(digest) of a cancelled task is still there") }
    }
}
