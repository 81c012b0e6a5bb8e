internal import Errors
internal import Files
internal import Foundation

extension StoreWorker {
    /// Does blocking work with files; the error is the store's own.
    func onFiles<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws(StoreError) -> Value {
        do { return try await FileWork.run(body) } catch let error as StoreError { throw error } catch {
            if let error = error as? StorageError { throw .storage(error, "The store cannot be used.") }
            let damage = error as? StoreDatabase.Damage
            throw StoreError(
                damage == nil ? .storage : .damaged, "The store cannot be used: \(damage?.text ?? "\(error)")",
                cause: error)
        }
    }

    func plan(_ op: OpID, _ task: TaskRecord) async -> Event? {
        let life = life
        do throws(StoreError) {
            try await proveDamage(of: task.items)
            let view = try await planView()
            let plan = await planner.plan(task, view)
            guard isRunning(op, life: life) else { return nil }
            if !plan.needs.isEmpty, let database { try await onFiles { try database.setNeeds(plan.needs) } }
            return .planned(op, plan.answer, text: plan.text)
        } catch { return .planned(op, .fault(.storage(error.text))) }
    }

    /// The file of a download is at its place already: a stopped operation has moved it there before this one began.
    private func alreadyPrepared(_ op: OpID, _ download: DownloadItem) -> Event? {
        machine?.preparedFiles[download.file].map { .prepared(op, $0) }
    }

    func verify(_ op: OpID, _ download: DownloadItem) async -> Event? {
        if let event = alreadyPrepared(op, download) { return event }
        let folder = folder
        do throws(StoreError) {
            let isRight = try await onFiles { try FileInstaller.verify(download, in: folder) }
            return isRight ? .verified(op) : .wrong(op)
        } catch { return .fileFailed(op, isFull: error.code == .diskFull, text: error.text) }
    }

    func patch(_ op: OpID, _ download: DownloadItem) async -> Event? {
        if let event = alreadyPrepared(op, download) { return event }
        let folder = folder
        do throws(StoreError) {
            let (isMade, mask) = try await onFiles {
                let isMade = try FileInstaller.patch(download, in: folder)
                let part = isMade ? folder.part(sha256: download.file.digest) : nil
                return (isMade, part.flatMap { ChangedTiles.mask(of: download, made: $0, in: folder) })
            }
            if isMade { changedTiles[download.file] = mask }
            return isMade ? .verified(op) : .wrong(op)
        } catch { return .fileFailed(op, isFull: error.code == .diskFull, text: error.text) }
    }

    func prepare(_ op: OpID, _ download: DownloadItem) async -> Event? {
        if let event = alreadyPrepared(op, download) { return event }
        let (folder, source) = (folder, catalogOrigin())
        do throws(StoreError) {
            return .prepared(op, try await onFiles { try FileInstaller.prepare(download, in: folder, source: source) })
        } catch { return .fileFailed(op, isFull: error.code == .diskFull, text: error.text) }
    }

    /// Which catalog the files of today's plans come from.
    private func catalogOrigin() -> CatalogOrigin? {
        guard let machine, let address = options.catalog.map({ CatalogAddress($0).folder.absoluteString }) else {
            return nil
        }
        let source = CatalogSource.address(address)
        guard let sequence = machine.rows.sequences[source] else { return nil }
        let key = machine.rows.sequences.first {
            $0.key != source && $0.value == sequence && CatalogSource.parts($0.key).kind == 1
        }
        return CatalogOrigin(
            address: address, key: key.map { CatalogSource.parts($0.key).name }, sequence: Int64(clamping: sequence))
    }
}
