internal import Digests
internal import Errors
internal import HTTPTypes
internal import HummingbirdCore
internal import WebRequests

/// Extracts for plain HTTP clients: order one, then ask for its state until there is an address.
struct ExtractResponder: Sendable {
    let services: GatewayServices

    private struct FileView: Encodable {
        let format: String
        let url: String
        let size: UInt64
        let sha256: String
    }

    private struct State: Encodable {
        let id: String
        /// `building`, `published` or `failed`.
        let state: String
        let job: UInt64?
        let tiles: UInt64?
        /// How many tiles need no more work; absent before its job began and after its end.
        let settled: UInt64?
        let url: String?
        let size: UInt64?
        let sha256: String?
        /// The package in every format; absent until it is published.
        let files: [FileView]?
        let reason: String?
        /// Why its job makes no progress now.
        let waiting: String?
    }

    static func order(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await ExtractResponder(services: routed.services).order(routed)
    }

    static func state(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await ExtractResponder(services: routed.services).answer(routed["extract"], tiles: nil)
    }

    private func order(_ routed: RoutedRequest) async throws(Problem) -> Response {
        guard let extracts = services.extracts else { throw Problem(.noCoordinator, "This gateway builds nothing.") }
        let wish = try await ExtractWish.read(routed)
        let id = wish.id
        if published(id) == nil {
            try services.access.countExtract(routed.caller)
            let extract = ExtractService.Extract(
                id: id, tileset: wish.tileset, mask: wish.mask, name: wish.name, formats: wish.formats)
            let (number, signals) = await extracts.request(extract, routed.caller.client, isRanged: true)
            // A refusal that comes at once is the answer; the build goes on without this request.
            try await Self.refusal(signals)
            await extracts.cancel(number)
        }
        await wait(for: id, Self.patience(routed.request), extracts)
        var response = try await answer(id, tiles: wish.count)
        response.headers[.location] = "/v1/extracts/\(id)"
        return response
    }

    /// How long the client wants to wait: `Prefer: wait=20` (RFC 7240), at most a minute.
    private static func patience(_ request: Request) -> Duration {
        let words = (request.headers.value(.prefer) ?? "").split(whereSeparator: { ", ;".contains($0) })
        let seconds = words.lazy.filter { $0.hasPrefix("wait=") }.compactMap { Int($0.dropFirst(5)) }.first ?? 0
        return .seconds(min(max(seconds, 0), 60))
    }

    /// Waits until the package is there or its build has ended.
    private func wait(for id: String, _ patience: Duration, _ extracts: ExtractService) async {
        let end = ContinuousClock.now + patience
        while published(id) == nil, await extracts.isBuilding(id), ContinuousClock.now < end, !Task.isCancelled {
            // A cancelled sleep ends the wait.
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Waits until the order was taken or refused.
    private static func refusal(_ signals: AsyncStream<ExtractService.Signal>) async throws(Problem) {
        let found = await withTaskGroup(of: ExtractService.Signal?.self) { group in
            group.addTask {
                for await signal in signals { return signal }
                return nil
            }
            group.addTask {
                // Longer than a submission takes; a cancelled sleep ends the wait.
                try? await Task.sleep(for: .milliseconds(300))
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        guard case .refuse(let refusal)? = found else { return }
        throw CartoResponder.problem(refusal)
    }

    private func published(_ id: String) -> MapVersion? {
        services.watch.current.snapshot?.maps.versions(.newest(id: id), edition: ExtractName.edition).first
    }

    private static func files(_ map: MapVersion) -> [FileView] {
        [("mbtiles", map.mbtiles), ("pmtiles", map.pmtiles)].compactMap { format, file in
            file.map { FileView(format: format, url: "/\($0.path)", size: $0.size, sha256: $0.digest.hex) }
        }
    }

    private func answer(_ id: String, tiles: UInt64?) async throws(Problem) -> Response {
        if let map = published(id) {
            return APIResponder.json(
                State(
                    id: id, state: "published", job: nil, tiles: tiles, settled: nil, url: "/\(map.main.path)",
                    size: map.main.size, sha256: map.main.digest.hex, files: Self.files(map), reason: nil,
                    waiting: nil))
        }
        let job = await services.extracts?.jobs[id]
        let reason = await services.extracts?.ends[id]
        let isBuilding = await services.extracts?.isBuilding(id) == true
        guard isBuilding || reason != nil else {
            throw Problem(.notFound, "There is no extract '\(id.prefix(60))'; order it with POST /v1/extracts.")
        }
        let state = reason != nil ? "failed" : "building"
        let progress = reason == nil ? await services.extracts?.progress[id] : nil
        let waiting = progress.flatMap { $0.waiting.isEmpty ? nil : $0.waiting }
        var response = APIResponder.json(
            State(
                id: id, state: state, job: job, tiles: tiles ?? progress?.tiles, settled: progress?.settled, url: nil,
                size: nil, sha256: nil, files: nil, reason: reason, waiting: waiting),
            status: state == "building" ? .accepted : .ok)
        if state == "building" { response.headers[.retryAfter] = "2" }
        return response
    }
}
