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

    /// Reads the list of the catalog and verifies it: that of its own address, or else that of the first mirror that has an
    /// acceptable one; whether the last one is too old is decided by the rules.
    ///
    /// Without keys, and where a person allows an older list, only the catalog's own address is asked: nothing would prove
    /// what a mirror says.
    func list(_ op: OpID) async -> Event? {
        guard let address = options.catalog.map({ CatalogAddress($0) }), let machine, let database,
            let task = machine.ops[op].flatMap({ machine.rows.tasks[$0.task] }),
            let list = address.url(CatalogIndex.fileName)
        else { return .listed(op, .bad(.invalidArguments)) }
        let life = life
        // Without the rows of the last list there are no mirrors.
        _ = try? await readContent()
        var places = servers.places(of: list)
        if case .unsigned = options.trust { places = [] }
        if task.allowOlder || places.isEmpty {
            places = [CatalogServers.Place(server: address.folder, url: list, rank: 0)]
        }
        var reason: (rank: Int, event: Event?)?
        for place in places {
            let answer = await self.answer(
                of: place, named: address.folder.absoluteString, op, for: task, database, isOnly: places.count == 1)
            guard isRunning(op, life: life) else { return nil }
            guard answer.isFailure else { return answer.event }
            if place.rank < reason?.rank ?? .max { reason = (place.rank, answer.event) }
            guard answer.canAskAnother else { break }
        }
        return reason?.event
    }

    /// What came of asking one address for the list.
    private struct PlaceAnswer {
        var event: Event?
        var isFailure = false
        /// Whether another address may have an acceptable list.
        var canAskAnother = false
    }

    private func answer(
        of place: CatalogServers.Place, named name: String, _ op: OpID, for task: TaskRecord, _ database: StoreDatabase,
        isOnly: Bool
    ) async -> PlaceAnswer {
        let life = life
        let isOwn = place.rank == 0
        do {
            var etag: String?
            // The address of the store alone is asked whether its list has changed.
            if isOwn, machine?.rows.catalog != 0, !task.allowOlder {
                etag = try await onFiles { try database.mark(address: name)?.etag }
            }
            guard let bytes = try await download(CatalogAddress(place.server), etag: etag) else {
                servers.worked(place)
                try await onFiles {
                    try database.noteUnchanged(address: name, CatalogMark(etag: nil, checkedAt: Date()))
                }
                return PlaceAnswer(event: .listed(op, .unchanged))
            }
            servers.worked(place)
            guard isRunning(op, life: life) else { return PlaceAnswer() }
            let (trust, asked) = (options.trust, place.server.absoluteString)
            let verified = try await onFiles {
                try CatalogReading.read(
                    [UInt8](bytes.body.body), signature: bytes.signature, trust: trust, address: asked,
                    known: KnownSequences(), allowOlder: true)
            }
            guard isRunning(op, life: life) else { return PlaceAnswer() }
            let mark = CatalogMark(etag: isOwn ? bytes.body.etag : nil, checkedAt: Date())
            let candidate = CatalogCandidate(
                verified: verified, address: name, mark: mark,
                documents: CatalogDocuments(list: [UInt8](bytes.body.body), signature: bytes.signature))
            if !isOnly, isOlder(verified, at: name) {
                servers.say(RefusedAddress(address: place.server, reason: .olderList))
                return PlaceAnswer(event: .listed(op, .bad(.olderCatalog)), isFailure: true, canAskAnother: true)
            }
            if !isOwn, let machine, machine.rows.catalog != 0,
                verified.sequence.map({ UInt64(clamping: $0) }) == machine.rows.catalog
            {
                // A mirror that lags behind may lack what was added under the same sequence.
                try await onFiles {
                    try database.noteUnchanged(address: name, CatalogMark(etag: nil, checkedAt: Date()))
                }
                return PlaceAnswer(event: .listed(op, .unchanged))
            }
            return PlaceAnswer(event: await accept(op, candidate, for: task, from: bytes))
        } catch let error as FetchError {
            servers.failed(place, error)
            return PlaceAnswer(
                event: .listed(op, .fault(FetchFault(error))), isFailure: true, canAskAnother: !Task.isCancelled)
        } catch let error as StoreError {
            let isPage = error.failure == .connection
            let isWrong = error.failure == .badSignature || error.failure == .badCatalog
            if isWrong, !isOnly { servers.refuse(place.server, .wrongList) }
            return PlaceAnswer(
                event: .listed(op, isPage ? .fault(.portal) : .bad(error.failure ?? .storage)), isFailure: true,
                canAskAnother: isPage || isWrong)
        } catch { return PlaceAnswer(event: .listed(op, .bad(.internalError)), isFailure: true) }
    }

    /// Whether a list is older than the one that is known of the catalog's address or of the key that signed it.
    private func isOlder(_ list: VerifiedCatalog, at name: String) -> Bool {
        guard let machine else { return false }
        let sources = [CatalogSource.address(name)] + (list.key.map { [CatalogSource.key($0)] } ?? [])
        guard let known = sources.compactMap({ machine.rows.sequences[$0] }).max() else { return false }
        return list.sequence.map { UInt64(clamping: $0) < known } ?? true
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
