internal import ClusterClient
internal import Digests
internal import Errors
internal import HTTPTypes
internal import HummingbirdCore
internal import Packages
internal import Tiles
internal import Tilesets
internal import WebRequests

/// Extracts for plain HTTP clients: order one, then ask for its state until there is an address.
struct ExtractResponder: Sendable {
    let services: GatewayServices

    private struct Order: Codable {
        let tileset: String
        let area: AreaRequest
        /// The deepest zoom; absent = that of the tileset.
        let maxZoom: Int?
        /// What people call the package, 1 to 100 bytes; absent = it has its id only.
        let name: String?
        /// `mbtiles`, which is always made, and `pmtiles`.
        let formats: [String]?
    }

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
        let order = try await JSONBody.read(Order.self, routed.request, most: 4 << 20)
        let tileset = try services.tilesets.find(order.tileset, for: routed.caller)
        let formats = try Self.formats(order.formats ?? [])
        if let name = order.name, !(1...100 ~= name.utf8.count) {
            throw Problem(.wrongRequest, "'name' has 1 to 100 bytes.")
        }
        let zoom = order.maxZoom ?? tileset.zooms.max
        guard tileset.zooms.contains(zoom), let zooms = ZoomRange(min: tileset.zooms.min, max: zoom) else {
            throw Problem(.wrongRequest, "'max_zoom' is one of the zooms \(tileset.zooms) of the tileset.")
        }
        let asked = order.area
        // Hundreds of regions take seconds of a core.
        let mask = try await services.uploads.admit { () async throws(Problem) in
            try await services.uploads.run { [services] () throws(Problem) in
                let areas = try asked.areas { () throws(Problem) in try services.world.tree() }
                guard let area = Area.merged(areas) else { throw Problem(.wrongRequest, "The area is empty.") }
                return area.mask(zoom)
            }
        }
        let count = mask.count(in: zooms)
        guard count <= services.options.extractTiles else {
            services.metrics.extract(.tooBig, seconds: nil)
            throw Problem(
                .areaTooBig, "The area has \(count) tiles; at most \(services.options.extractTiles) are allowed.")
        }
        let id = ExtractName.id(of: mask, tileset: order.tileset, formats: formats)
        if published(id) == nil {
            try services.access.countExtract(routed.caller)
            let extract = ExtractService.Extract(
                id: id, tileset: tileset, mask: mask, name: order.name, formats: formats)
            let (number, signals) = await extracts.request(extract, routed.caller.client, isRanged: true)
            // A refusal that comes at once is the answer; the build goes on without this request.
            try await Self.refusal(signals)
            await extracts.cancel(number)
        }
        await wait(for: id, Self.patience(routed.request), extracts)
        var response = try await answer(id, tiles: count)
        response.headers[.location] = "/v1/extracts/\(id)"
        return response
    }

    /// Those of the request, with MBTiles.
    private static func formats(_ words: [String]) throws(Problem) -> [PackageFormat] {
        let known: [PackageFormat] = [.mbtiles, .pmtiles]
        guard words.allSatisfy({ word in known.contains { $0.rawValue == word } }) else {
            throw Problem(.wrongRequest, "'formats' of an extract has 'mbtiles' and 'pmtiles' only.")
        }
        return known.filter { $0 == .mbtiles || words.contains($0.rawValue) }
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
                    id: id, state: "published", job: nil, tiles: tiles, url: "/\(map.main.path)",
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
        let waiting = reason == nil ? await services.extracts?.waiting[id] : nil
        var response = APIResponder.json(
            State(
                id: id, state: state, job: job, tiles: tiles, url: nil, size: nil, sha256: nil, files: nil,
                reason: reason, waiting: waiting),
            status: state == "building" ? .accepted : .ok)
        if state == "building" { response.headers[.retryAfter] = "2" }
        return response
    }
}
