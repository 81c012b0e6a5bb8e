internal import Digests
internal import Errors
internal import Files
public import Foundation
public import StyleFormat
internal import TextFormats
internal import Transfer

/// Collects everything a style needs into a folder.
public enum StylePackCollector {
    /// Reads only the style and lists the resources that it needs; nothing is written.
    ///
    /// - Throws: ``StylesError``.
    public static func needs(
        _ location: StyleLocation, options: StylePackOptions = StylePackOptions()
    ) async throws(StylesError) -> (style: StyleDocument, needs: StyleNeeds) {
        let policy = try ReferencePolicy(location)
        let fetcher = try PackFetcher(policy, options)
        let style = try await StyleReading(location, policy: policy, fetcher: fetcher).read(known: nil)
        return (style.document, try StyleNeeds(style.document, base: policy.address, choice: options.choice))
    }

    /// Fetches missing resources, asks the servers whether the others have changed, and writes the index.
    ///
    /// A run that was interrupted, or failed for some resources, is continued. The folder's bytes depend only on the
    /// servers' answers. Blocks threads only for short file operations.
    ///
    /// - Parameters:
    ///   - location: The style.
    ///   - folder: Created if it does not exist; must be empty or contain a pack of the same style.
    ///   - progress: Called after every few answers.
    /// - Throws: ``StylesError``; `CancellationError`.
    public static func collect(
        _ location: StyleLocation, into folder: URL, options: StylePackOptions = StylePackOptions(),
        progress: @escaping @Sendable (StylePackProgress) -> Void = { _ in }
    ) async throws -> StylePackReport {
        let policy = try ReferencePolicy(location)
        let journal = try PackJournal(folder, style: policy.address)
        let fetcher = try PackFetcher(policy, options)
        let address = policy.address ?? PackPath.style
        let style = try await StyleReading(location, policy: policy, fetcher: fetcher).read(
            known: journal.finished[address])
        let needs = try StyleNeeds(style.document, base: policy.address, choice: options.choice)
        var run = CollectorRun(policy, journal: journal, options: options, progress: progress)
        try run.finish(
            style.entry, body: style.bytes, received: UInt64(style.received), kept: style.isKept)
        try await run.fetch(needs.resources, fetcher)
        let entries = run.entries
        var paths: [String: String] = [:]
        for entry in entries { paths[entry.url] = entry.path }
        let rewritten: [UInt8]
        let index: [UInt8]
        do {
            rewritten = try OfflineStyle.relative(style.document, base: policy.address) { [paths] in paths[$0] }
            index = try StylePackIndex(
                name: style.document.name, style: policy.address, choice: options.choice,
                rewritten: Digest(of: rewritten), entries: entries
            ).encoded()
        } catch {
            throw StylesError(.badStyle, "The style cannot be rewritten: \(error)", cause: error)
        }
        try PackFile.write(rewritten, to: folder.appendingPathComponent(PackPath.style))
        do throws(StorageError) {
            for path in paths.values.sorted() { try Durable.sync(file: folder.appendingPathComponent(path)) }
            try Durable.sync(file: folder.appendingPathComponent(PackPath.style))
            try Durable.write(index, to: folder.appendingPathComponent(PackPath.index))
        } catch {
            throw PackFile.error(error)
        }
        try journal.finish()
        for entry in journal.finished.values {
            // Removes files that the style no longer needs.
            guard let path = entry.path, PackPath.isInside(path), !paths.values.contains(path) else { continue }
            // A file that stays behind is not in the index, so no client reads it.
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(path))
        }
        return StylePackReport(
            name: style.document.name,
            kinds: Dictionary(entries.map { ($0.kind.rawValue, 1) }, uniquingKeysWith: +),
            resources: entries.count, kept: run.state.kept, absent: run.state.absent, bytes: run.state.bytes,
            received: run.state.received, notes: needs.notes)
    }
}

/// Gets the style's own bytes.
private struct StyleReading {
    struct Style {
        let bytes: [UInt8]
        let document: StyleDocument
        let entry: StylePackIndex.Entry
        let received: Int
        let isKept: Bool
    }

    let location: StyleLocation
    let policy: ReferencePolicy
    let fetcher: PackFetcher

    init(_ location: StyleLocation, policy: ReferencePolicy, fetcher: PackFetcher) {
        self.location = location
        self.policy = policy
        self.fetcher = fetcher
    }

    func read(known: StylePackIndex.Entry?) async throws(StylesError) -> Style {
        if let file = location.file {
            let data: Data
            do { data = try Data(contentsOf: file) } catch {
                throw StylesError(
                    .unreachable, "The style '\(file.path)' cannot be read: \(error.localizedDescription)")
            }
            return try style([UInt8](data), etag: nil, modified: nil, received: 0)
        }
        guard let address = policy.address else { throw StylesError(.badURL, "No style address is given.") }
        let resource = StyleResource(url: address, kind: .style, path: PackPath.original)
        let outcome = await fetcher.one(try policy.request(address))
        let response: TransferResponse
        switch outcome {
        case .success(let answer): response = answer
        case .failure(let error):
            throw StylesError(
                .unreachable, "The style '\(address)' cannot be fetched: \(Sentence.inner(error.message))", cause: error
            )
        }
        guard response.status == 200 else {
            throw StylesError(
                .unreachable, "The style '\(address)' was answered with \(response.status); expected 200.",
                isRefusal: StylesError.isRefusal(status: response.status))
        }
        let body = try ResourceCheck.body(
            of: response.body, contentEncoding: response.headers.contentEncoding, resource)
        return try style(
            policy.masked(body), etag: response.headers.etag, modified: response.headers.lastModified,
            received: response.received, known: known)
    }

    private func style(
        _ bytes: [UInt8], etag: String?, modified: String?, received: Int, known: StylePackIndex.Entry? = nil
    ) throws(StylesError) -> Style {
        let document = try StyleDocument(bytes)
        let entry = StylePackIndex.Entry(
            url: policy.address ?? PackPath.style, kind: .style, path: PackPath.original, size: UInt64(bytes.count),
            sha256: Digest(of: bytes).hex, etag: PackFetcher.short(etag), modified: PackFetcher.short(modified))
        return Style(
            bytes: bytes, document: document, entry: entry, received: received,
            isKept: entry.sha256 == known?.sha256)
    }
}
