internal import Digests
internal import Files
internal import Foundation
internal import StyleFormat
internal import TextFormats
internal import Transfer

/// One run over the list of resources.
struct CollectorRun {
    private let policy: ReferencePolicy
    private let journal: PackJournal
    private let options: StylePackOptions
    private let progress: @Sendable (StylePackProgress) -> Void
    private(set) var state = StylePackProgress()
    private(set) var entries: [StylePackIndex.Entry] = []
    private var failures: [String] = []
    /// Whether a later attempt may succeed.
    private var mayHeal = false

    init(
        _ policy: ReferencePolicy, journal: PackJournal, options: StylePackOptions,
        progress: @escaping @Sendable (StylePackProgress) -> Void
    ) {
        self.policy = policy
        self.journal = journal
        self.options = options
        self.progress = progress
    }

    /// Finishes one resource; with `body` its file is written.
    mutating func finish(
        _ entry: StylePackIndex.Entry, body: [UInt8]?, received: UInt64, kept: Bool, isNoted: Bool = false
    ) throws(StylesError) {
        if !isNoted { try journal.add(entry, body) }
        entries.append(entry)
        state.settled += 1
        state.received += received
        state.bytes += entry.size
        if kept { state.kept += 1 }
        if entry.isAbsent { state.absent += 1 }
        guard state.bytes <= options.maxBytes else {
            throw StylesError(
                .tooLarge, "The style needs more than \(options.maxBytes) bytes; allow more, or leave ideographs out.")
        }
    }

    /// Fetches all of a list.
    ///
    /// - Throws: ``StylesError`` `missing-resource` naming the first resource that could not be fetched, after all were
    ///   tried.
    mutating func fetch(_ resources: [StyleResource], _ fetcher: PackFetcher) async throws {
        state.needed = resources.count + 1
        var wanted: [StyleResource] = []
        for resource in resources {
            if let entry = journal.holds(resource) {
                try finish(entry, body: nil, received: 0, kept: true, isNoted: true)
            } else {
                wanted.append(resource)
            }
        }
        progress(state)
        let download = fetcher.client.download()
        defer { download.cancel() }
        var next = 0
        while true {
            try Task.checkCancellation()
            var requests: [TransferRequest] = []
            while next < wanted.count, download.underWay + requests.count < fetcher.window {
                if let request = request(wanted[next], next) { requests.append(request) }
                next += 1
            }
            download.submit(requests)
            let results = await download.next(wanted: max(1, fetcher.window / 4))
            try Task.checkCancellation()
            if results.isEmpty {
                if next >= wanted.count { break }
                continue
            }
            for result in results { try handle(wanted[Int(result.tag)], result) }
            progress(state)
        }
        guard let first = failures.first else { return }
        throw StylesError(
            .missingResource,
            "\(failures.count) of \(resources.count) resources could not be fetched; the first: "
                + ([first] + failures.dropFirst().prefix(4)).joined(separator: "\n  ")
                + "\nFetched resources are kept; run the command again to continue.", isRefusal: !mayHeal)
    }

    /// `nil`, and a recorded failure, if the policy forbids the request.
    private mutating func request(_ resource: StyleResource, _ tag: Int) -> TransferRequest? {
        do throws(StylesError) {
            let known = stillThere(resource)
            return TransferRequest(
                tag: UInt64(tag), url: try policy.request(resource.url), headers: PackFetcher.conditions(known))
        } catch {
            failures.append(error.message)
            return nil
        }
    }

    /// The entry of a resource from a finished run, if its file is intact.
    private func stillThere(_ resource: StyleResource) -> StylePackIndex.Entry? {
        guard let entry = journal.finished[resource.url], entry.kind == resource.kind, entry.path == resource.path,
            journal.bytes(entry) != nil
        else { return nil }
        return entry
    }

    private mutating func handle(_ resource: StyleResource, _ result: TransferResult) throws(StylesError) {
        let response: TransferResponse
        switch result.outcome {
        case .success(let answer): response = answer
        case .failure(let error):
            failures.append("'\(resource.url)': \(Sentence.inner(error.message))")
            mayHeal = mayHeal || error.isRetriable
            return
        }
        let received = UInt64(response.received)
        switch response.status {
        case 200:
            let body: [UInt8]
            do throws(StylesError) {
                body =
                    policy.masks(resource.kind)
                    ? policy.masked(
                        try ResourceCheck.body(
                            of: response.body, contentEncoding: response.headers.contentEncoding, resource))
                    : try ResourceCheck.body(
                        of: response.body, contentEncoding: response.headers.contentEncoding, resource)
            } catch {
                failures.append(error.message)
                mayHeal = true
                return
            }
            let entry = StylePackIndex.Entry(
                url: resource.url, kind: resource.kind, path: resource.path, size: UInt64(body.count),
                sha256: Digest(of: body).hex, etag: PackFetcher.short(response.headers.etag),
                modified: PackFetcher.short(response.headers.lastModified))
            let isSame = stillThere(resource)?.sha256 == entry.sha256
            try finish(entry, body: body, received: received, kept: isSame)
        case 304:
            guard let entry = stillThere(resource) else {
                failures.append("'\(resource.url)': the server answered 304 (not modified), but there is no local copy")
                mayHeal = true
                return
            }
            try finish(entry, body: nil, received: received, kept: true)
        case 204 where resource.mayBeAbsent, 404 where resource.mayBeAbsent, 410 where resource.mayBeAbsent:
            let entry = StylePackIndex.Entry(
                url: resource.url, kind: resource.kind, path: nil, size: 0, sha256: nil, etag: nil, modified: nil)
            try finish(entry, body: nil, received: received, kept: false)
        default:
            failures.append("'\(resource.url)' was answered with \(response.status)")
            mayHeal = mayHeal || !StylesError.isRefusal(status: response.status)
        }
    }
}

extension ReferencePolicy {
    /// Whether bodies of a kind may repeat the key: documents, not pictures.
    func masks(_ kind: StyleResource.Kind) -> Bool { kind == .source || kind == .data }
}
