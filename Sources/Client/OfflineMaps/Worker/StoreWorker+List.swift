internal import CatalogFormat
internal import Digests
internal import Files
internal import Foundation

extension StoreWorker {
    private static let largestSignature = 64 << 10

    /// What was downloaded of a list.
    private struct ListBytes {
        var body: FetchedBody
        /// `nil` when the server has none, or none is needed.
        var signature: [UInt8]?
    }

    /// Reads the list of the catalog and verifies it; whether it is too old is decided by the rules.
    func list(_ op: OpID) async -> Event? {
        guard let address = options.catalog.map({ CatalogAddress($0) }), let machine, let database,
            let task = machine.ops[op].flatMap({ machine.rows.tasks[$0.task] })
        else { return .listed(op, .bad(.invalidArguments)) }
        let name = address.folder.absoluteString
        let life = life
        do {
            var etag: String?
            if machine.rows.catalog != 0, !task.allowOlder {
                etag = try await onFiles { try database.mark(address: name)?.etag }
            }
            guard let bytes = try await download(address, etag: etag) else {
                try await onFiles {
                    try database.noteUnchanged(address: name, CatalogMark(etag: nil, checkedAt: Date()))
                }
                return .listed(op, .unchanged)
            }
            guard isRunning(op, life: life) else { return nil }
            let trust = options.trust
            let verified = try await onFiles {
                try CatalogReading.read(
                    [UInt8](bytes.body.body), signature: bytes.signature, trust: trust, address: name,
                    known: KnownSequences(), allowOlder: true)
            }
            guard isRunning(op, life: life) else { return nil }
            let mark = CatalogMark(etag: bytes.body.etag, checkedAt: Date())
            return await accept(
                op, CatalogCandidate(verified: verified, address: name, mark: mark), for: task, from: bytes)
        } catch let error as FetchError {
            return .listed(op, .fault(FetchFault(error)))
        } catch let error as StoreError {
            return .listed(op, error.failure == .connection ? .fault(.portal) : .bad(error.failure ?? .storage))
        } catch { return .listed(op, .bad(.internalError)) }
    }

    /// - Returns: `nil` when the list has not changed.
    private func download(_ address: CatalogAddress, etag: String?) async throws(FetchError) -> ListBytes? {
        guard let list = address.url(CatalogIndex.fileName), let sign = address.url(CatalogIndex.signatureName) else {
            throw FetchError(.invalidArguments, "'\(address.folder)' is no address of a catalog.")
        }
        let headers = etag.map { ["If-None-Match": $0] } ?? [:]
        var isSecond = false
        while true {
            let request = await changed(ResourceRequest(list, .catalog, headers: isSecond ? [:] : headers))
            let body = try await fetcher.body(request, limit: CatalogIndex.maxBytes)
            if body.status == 304 { return nil }
            guard case .keys = options.trust else { return ListBytes(body: body) }
            var signature: [UInt8]?
            do throws(FetchError) {
                let request = await changed(ResourceRequest(sign, .catalog))
                signature = [UInt8](try await fetcher.body(request, limit: Self.largestSignature).body)
            } catch { if error.status != 404 { throw error } }
            // The publisher replaces both files one after the other.
            if !isSecond, let signature, CatalogReading.isBetween([UInt8](body.body), signature) {
                isSecond = true
                continue
            }
            return ListBytes(body: body, signature: signature)
        }
    }

    private func accept(
        _ op: OpID, _ new: CatalogCandidate, for task: TaskRecord, from bytes: ListBytes
    ) async -> Event? {
        guard let machine, let database else { return nil }
        var sources = [CatalogSource.address(new.address)]
        if let key = new.verified.key { sources.append(CatalogSource.key(key)) }
        let sequence: UInt64
        if let number = new.verified.sequence {
            sequence = UInt64(clamping: number)
        } else {
            // Without a sequence, other bytes are another list; a source that had sequences must keep having them.
            guard task.allowOlder || sources.allSatisfy({ machine.rows.sequences[$0] == nil }) else {
                return .listed(op, .bad(.olderCatalog))
            }
            sources = []
            let digest = Digest(of: [UInt8](bytes.body.body)).hex
            sequence = UInt64(digest.prefix(15), radix: 16) ?? 1
        }
        // A publisher also adds tile packs, styles and patches, which change no sequence. Rows that cannot be read are
        // written again.
        let known = try? await readContent()
        let isRewritten = sequence == machine.rows.catalog && known != new.verified.content
        if sequence == machine.rows.catalog, !isRewritten {
            // The mark is of use only; the next list reads it again.
            try? await onFiles { try database.noteUnchanged(address: new.address, new.mark) }
        } else {
            candidate = (sequence, new)
        }
        return .listed(op, .new(sequence: sequence, sources: sources, isRewritten: isRewritten))
    }
}
