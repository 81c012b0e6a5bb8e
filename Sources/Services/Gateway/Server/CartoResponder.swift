internal import CatalogFormat
internal import Errors
internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import TextFormats
internal import Tiles
internal import Tilesets
internal import WebRequests
internal import WebServer

/// Answers CARTO's client: a list of packages, and packages of a mask that are built on request.
///
/// Its answers follow what the client accepts (docs/decisions/0061-held-extracts.md): no 202, no redirect, bodies of errors of at
/// most 200 bytes, because the client writes them into its file.
struct CartoResponder: Sendable {
    /// The longest mask, in bytes.
    static let maxMask = 512
    /// The most tiles of a mask; the coordinator's own limit counts when it is lower.
    static let maxTiles: UInt64 = 5_000
    /// What every SQLite file begins with.
    static let constant = Array("SQLite format 3\0".utf8)

    let services: GatewayServices

    static func list(_ routed: RoutedRequest) throws(Problem) -> Response {
        try CartoResponder(services: routed.services).list(routed, routed["tileset"])
    }

    static func area(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let mask = routed["mask"]
        // The SDK puts the mask into the address of its source; without one it asks for the list.
        if mask == "{tilemask}" { return try list(routed) }
        return try await CartoResponder(services: routed.services).package(routed, routed["tileset"], mask)
    }

    // MARK: - List

    /// `packages.json` of a tileset with addresses of this server.
    private func list(_ routed: RoutedRequest, _ tileset: String) throws(Problem) -> Response {
        let snapshot = try services.watch.snapshot
        let base = routed.base
        let key = services.options.isPrivate ? "?appToken={key}" : ""
        var packages: [JSONValue] = []
        guard let document = snapshot.documents["packages.json"],
            case .object(let root)? = JSONValue(json: Array(buffer: document.plain)),
            case .array(let entries)? = root["packages"]
        else { throw Problem(.notFound, "The catalog has no list of packages.") }
        for case .object(var entry) in entries {
            guard case .string(let id)? = entry["id"],
                let map = snapshot.maps.versions(.newest(id: id), edition: "").first,
                map.version.tileset == tileset || map.version.tileset == nil,
                // The SDK reads no PMTiles.
                let mbtiles = map.mbtiles
            else { continue }
            entry["url"] = .string("\(base)/\(mbtiles.path)\(key)")
            entry["files"] = nil
            entry["patches"] = nil
            packages.append(.object(entry))
        }
        var whole = root
        whole["packages"] = .array(packages)
        return try DocumentResponder.respond(
            ServedDocument(JSONDocument.encode(JSONValue.object(whole))), to: routed.request)
    }

    // MARK: - Package

    private func tileset(_ name: String, _ caller: Caller) throws(Problem) -> Tileset {
        do throws(Problem) { return try services.tilesets.find(name, for: caller) } catch {
            // In this protocol the tileset is a part of the address.
            guard error.code == .wrongRequest else { throw error }
            throw Problem(.notFound, "There is no tileset '\(name.prefix(40))'.")
        }
    }

    private func package(_ routed: RoutedRequest, _ name: String, _ text: String) async throws(Problem) -> Response {
        let (request, caller) = (routed.request, routed.caller)
        let tileset = try self.tileset(name, caller)
        let mask = try Self.mask(text, tileset.zooms)
        let count = mask.count(in: tileset.zooms)
        let limit = min(Self.maxTiles, services.options.extractTiles)
        guard count <= limit else {
            services.metrics.extract(.tooBig, seconds: nil)
            throw Problem(.areaTooBig, "\(count) tiles, at most \(limit).")
        }
        let id = ExtractName.id(of: mask, tileset: name)
        if let served = try await published(id, routed) { return served }
        // HEAD asks for nothing to be built.
        guard request.method == .get else { throw Problem(.notFound, "The package does not exist yet.") }
        guard let extracts = services.extracts else { throw Problem(.noCoordinator, "This gateway builds nothing.") }
        try services.access.checkRate(caller, .extracts)
        try services.access.countExtract(caller)
        let isRanged = request.headers[.range] != nil
        let extract = ExtractService.Extract(id: id, tileset: tileset, mask: mask)
        let (number, signals) = await extracts.request(extract, caller.client, isRanged: isRanged)
        var iterator = signals.makeAsyncIterator()
        switch await iterator.next() {
        case .serve?:
            services.metrics.extract(.joined, seconds: nil)
            guard let served = try await published(id, routed) else {
                throw Problem(.tryLater, "The package was removed.", retryAfter: 10)
            }
            return served
        case .refuse(let refusal)?: throw Self.problem(refusal)
        case .byte?: return held(id, number, signals, routed, extracts)
        case .cut?, nil: throw Problem(.tryLater, "The package is not there yet.", retryAfter: 10)
        }
    }

    /// The mask, cut to the zooms of the tileset.
    private static func mask(_ text: String, _ zooms: ZoomRange) throws(Problem) -> TileMask {
        guard 1...maxMask ~= text.utf8.count else { throw Problem(.badParameter, "The mask is too long.") }
        do throws(TilesError) {
            let mask = try TileMask(cartoText: text)
            guard !mask.isEmpty else { throw TilesError(.badMask, "empty") }
            return mask.maxZoom > zooms.max ? mask.clipped(toZoom: zooms.max) : mask
        } catch { throw Problem(.badParameter, "The mask cannot be read.") }
    }

    private func published(_ id: String, _ routed: RoutedRequest) async throws(Problem) -> Response? {
        let snapshot = try services.watch.snapshot
        guard let map = snapshot.maps.versions(.newest(id: id), edition: ExtractName.edition).first,
            let mbtiles = map.mbtiles
        else { return nil }
        // This address has other bytes after a second version; so a part of it could be joined to another file.
        if routed.request.headers[.range] != nil, map.version.version != 1 {
            throw Problem(
                .unsatisfiableRange, "The package changed.", headers: [.contentRange: "bytes */\(mbtiles.size)"])
        }
        services.metrics.extract(.served, seconds: nil)
        try services.access.checkBytes(routed.caller)
        let (access, caller) = (services.access, routed.caller)
        let responder = FileResponder(
            folder: snapshot.folder, file: mbtiles, isDownload: false, metrics: services.metrics,
            accelerated: services.options.accelerated, sender: routed.sender
        ) { access.add(bytes: $0, caller) }
        var response = try await responder.respond(to: routed.request)
        response.headers[.cacheControl] = "no-cache"
        return response
    }

    /// A 200 whose first bytes are sent while the package is built; without a length, because it is not known.
    private func held(
        _ id: String, _ number: UInt64, _ signals: AsyncStream<ExtractService.Signal>, _ routed: RoutedRequest,
        _ extracts: ExtractService
    ) -> Response {
        var headers: HTTPFields = [.contentType: "application/vnd.sqlite3", .cacheControl: "no-store"]
        // nginx would collect the bytes.
        headers.set(.xAccelBuffering, "no")
        let (watch, sender) = (services.watch, routed.sender)
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                var sent = 0
                func sendByte(_ writer: inout any ResponseBodyWriter) async throws {
                    try await writer.write(ByteBuffer(bytes: Self.constant[sent..<sent + 1]))
                    sent += 1
                }
                do {
                    try await sendByte(&writer)
                    for await signal in signals {
                        switch signal {
                        case .byte: try await sendByte(&writer)
                        case .serve:
                            let snapshot = try watch.snapshot
                            guard
                                let map = snapshot.maps.versions(.newest(id: id), edition: ExtractName.edition).first,
                                let mbtiles = map.mbtiles
                            else { throw Problem(.notFound, "The package was removed.") }
                            let file = try snapshot.folder.file(mbtiles.path)
                            try await sender.send(UInt64(sent)..<file.size, of: file, to: &writer)
                            try await writer.finish(nil)
                            return
                        // The client sees a broken transfer, and its retry gets the status.
                        case .cut, .refuse: throw Problem(.tryLater, "The package could not be built.")
                        }
                    }
                    throw Problem(.tryLater, "The gateway ends.")
                } catch {
                    await extracts.cancel(number)
                    throw error
                }
            })
    }

    // MARK: - Errors

    static func problem(_ refusal: HeldExtracts.Refusal) -> Problem {
        switch refusal {
        case .busy: Problem(.tryLater, "Too many packages are being built.", retryAfter: 10)
        case .late: Problem(.tryLater, "The package is being built.", retryAfter: 10)
        case .failed(let reason): Problem(.extractFailed, String(reason.prefix(120)))
        case .away: Problem(.coordinatorAway, "The coordinator does not answer.", retryAfter: 10)
        case .refused(let code, let text):
            code == ProblemCode.tryLater.rawValue
                ? Problem(.tryLater, String(text.prefix(120)), retryAfter: 10)
                : Problem(.extractFailed, String(text.prefix(120)))
        }
    }

    /// An error in one short line: the client writes the body into its file.
    static func short(_ problem: Problem) -> WholeAnswer {
        var headers = problem.headers
        headers[.contentType] = "text/plain; charset=utf-8"
        headers[.cacheControl] = "no-store"
        if let seconds = problem.retryAfter { headers[.retryAfter] = String(seconds) }
        // CARTO's client knows these statuses: 402, 403 and 406.
        let status = problem.code == .unknownToken || problem.code == .tokenNeeded ? 403 : problem.code.status
        return WholeAnswer(
            status: .init(code: status), headers: headers,
            body: ByteBuffer(string: String(problem.detail.prefix(150)) + "\n"))
    }
}
