internal import Files
internal import Foundation

extension StoreWorker {
    /// The most bytes of a single tile or resource of a style.
    static let largestBody = 16 << 20
    /// How often the size of a part file is reported to the machine.
    static let progressInterval = Duration.milliseconds(100)

    func fetch(_ op: OpID, _ download: DownloadItem, into digest: String, bytesPerSecond: UInt64?) {
        guard let its = download.details else {
            return begin(op, on: []) { _ in .fetchFailed(op, .refused(.internalError)) }
        }
        if download.isTile {
            begin(op, on: [its.file.sha256], isTile: true) { await $0.fetchTile(op, its) }
        } else {
            begin(op, on: [digest]) {
                await $0.fetchFile(op, download, into: digest, details: its, bytesPerSecond: bytesPerSecond)
            }
        }
    }

    private func fetchFile(
        _ op: OpID, _ download: DownloadItem, into digest: String, details its: DownloadDetails, bytesPerSecond: UInt64?
    ) async -> Event? {
        if let file = machine?.preparedFiles[download.file] { return .prepared(op, file) }
        let isPatch = digest == download.patch?.digest
        guard let part = folder.part(sha256: digest), let address = isPatch ? its.patch : its.address else {
            return .fetchFailed(op, .refused(.internalError))
        }
        let life = life
        let limit = isPatch ? download.patch?.size ?? 0 : download.size
        // The file may have bytes that were not reported to the machine.
        let there = StoreScan.size(part) ?? 0
        let offset = there > limit ? 0 : there
        noteSize(offset, of: digest, op, life: life)
        guard isRunning(op, life: life) else { return nil }
        if offset == limit { return .fetched(op) }
        let request = ResourceRequest(
            address, isPatch ? .patch : its.kind, headers: isPatch ? [:] : its.headers, bytesPerSecond: bytesPerSecond)
        let sources = MirroredFetch(servers: servers, fetcher: fetcher, transform: options.transform)
        let (sizes, report) = AsyncStream.makeStream(of: UInt64.self, bufferingPolicy: .bufferingNewest(1))
        let listener = Task {
            for await size in sizes {
                process(.received(op, size: size), life: life)
                // Ends early when the download has ended.
                try? await Task.sleep(for: Self.progressInterval)
            }
        }
        let result: Result<FetchedFile, FetchError>
        do throws(FetchError) {
            result = .success(
                try await sources.file(request, MirroredFetch.Wanted(part: part, size: limit, sha256: digest)) {
                    report.yield($0)
                })
        } catch { result = .failure(error) }
        report.finish()
        listener.cancel()
        await listener.value
        guard isRunning(op, life: life) else { return nil }
        noteSize(StoreScan.size(part) ?? 0, of: digest, op, life: life)
        switch result {
        case .success(let file):
            // Packages and styles do not expire: the catalog says when there is a newer one.
            let expires = download.isPack && !isPatch ? file.expires.map { Int64($0.timeIntervalSince1970) } : nil
            return .fetched(op, expires: expires)
        // More bytes than the catalog states: not this file. The rules start over once.
        case .failure(let error) where error.cause == .tooBig && (200...299).contains(error.status ?? 0):
            return .fetched(op)
        case .failure(let error): return .fetchFailed(op, FetchFault(error))
        }
    }

    /// Tells the size of a part file when it is another than the machine knows: bytes prove that there is a network.
    private func noteSize(_ size: UInt64, of digest: String, _ op: OpID, life: Int) {
        if machine?.parts[digest] != size { process(.received(op, size: size), life: life) }
    }

    private func fetchTile(_ op: OpID, _ its: DownloadDetails) async -> Event? {
        let (life, folder, fetcher) = (life, folder, fetcher)
        let request = await changed(ResourceRequest(its.address, its.kind, headers: its.headers))
        // The app may have named another server, and a fetcher.
        do throws(FetchError) { try BulkPolicy.check(request) } catch { return .fetchFailed(op, FetchFault(error)) }
        let server = its.address.host() ?? ""
        let result = await pacer.run(server, within: its.limits) {
            await Self.body(request, fetcher, within: its.limits?.timeout)
        }
        guard isRunning(op, life: life) else { return nil }
        let answer: FetchedBody?
        var absence = 404
        switch result {
        case .success(let body): answer = body
        case .failure(let error) where error.status == 404 || error.status == 410:
            (answer, absence) = (nil, error.status ?? absence)
        case .failure(let error): return .fetchFailed(op, FetchFault(error))
        }
        let status = absence
        do throws(StoreError) {
            let bytes = try await onFiles { try FileInstaller.fill(its, answer, absence: status, in: folder) }
            guard isRunning(op, life: life) else { return nil }
            if let bytes { process(.received(op, size: bytes), life: life) }
            return .fetched(op)
        } catch {
            if error.code == .diskFull { return .fetchFailed(op, .diskFull) }
            return .fetchFailed(op, error.failure.map { .refused($0) } ?? .storage(error.text))
        }
    }

    /// Downloads a body; a server that does not answer in time counts as a broken connection.
    private static func body(
        _ request: ResourceRequest, _ fetcher: any Fetcher, within timeout: Duration?
    ) async -> Result<FetchedBody, FetchError> {
        await withTaskGroup(of: Result<FetchedBody, FetchError>?.self) { group in
            group.addTask {
                do throws(FetchError) {
                    return .success(try await fetcher.body(request, limit: largestBody))
                } catch { return .failure(error) }
            }
            if let timeout {
                group.addTask {
                    // A cancelled sleep ends at once: the answer is there.
                    try? await Task.sleep(for: timeout)
                    return nil
                }
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first ?? .failure(FetchError(.connection, status: 200, "'\(request.address)' is too slow."))
        }
    }

    /// The request with the app's changes.
    func changed(_ request: ResourceRequest) async -> ResourceRequest { await request.changed(by: options.transform) }
}
