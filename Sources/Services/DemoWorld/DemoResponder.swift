internal import Errors
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Regions
internal import Synchronization
internal import TextFormats
internal import Tiles
internal import WorldTiles

/// Answers one request of the demo world.
final class DemoResponder: Sendable {
    /// Tiles of one binary never change; a fixed day lets clients see the header.
    static let lastModified = "Mon, 01 Jan 2024 00:00:00 GMT"

    private let cutter: TileCutter
    private let knobs: DemoKnobs
    private let maxZoom: Int
    private let fallbackHost: String
    private let log: RequestLog?
    private let tileRequests = Atomic<Int>(0)

    init(cutter: TileCutter, knobs: DemoKnobs, maxZoom: Int, fallbackHost: String) throws(DemoWorldError) {
        if let path = knobs.requestLog { log = try RequestLog(path) } else { log = nil }
        self.cutter = cutter
        self.knobs = knobs
        self.maxZoom = maxZoom
        self.fallbackHost = fallbackHost
    }

    func respond(to request: Request) async throws -> Response {
        guard request.method == .get || request.method == .head else {
            return Self.text(.methodNotAllowed, "only GET and HEAD are answered here", headers: [.allow: "GET, HEAD"])
        }
        let response = try await get(request)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func get(_ request: Request) async throws -> Response {
        switch DemoRoute(path: request.uri.path, query: request.uri.query) {
        case .index:
            Self.plain(.ok, body: WorldDocuments.index(base: base(request)), type: "text/plain; charset=utf-8")
        case .health:
            Self.text(.ok, "ok")
        case .tileJSON(let language):
            Self.plain(
                .ok, body: try WorldDocuments.tileJSON(base: base(request), language: language, maxZoom: maxZoom),
                type: "application/json")
        case .style(let language):
            Self.plain(
                .ok, body: try WorldDocuments.style(base: base(request), language: language), type: "application/json")
        case .tile(let tile, let language):
            try await self.tile(tile, language: language, for: request)
        case .spriteJSON(let density):
            Self.asset(try WorldSprite.json(density: density), type: "application/json", for: request)
        case .spriteImage(let density):
            Self.asset(WorldSprite.png(density: density), type: "image/png", for: request)
        case .glyphs(let start):
            Self.asset(WorldGlyphs.range(start), type: "application/x-protobuf", for: request)
        case .htmlPage:
            Self.plain(.ok, body: WorldDocuments.htmlPage, type: "text/html; charset=utf-8")
        case .outOfRange:
            Self.text(.notFound, "no such tile: zooms are 0-22, columns and rows 0 to 2^zoom - 1")
        case .malformed(let reason):
            Self.text(.badRequest, reason)
        case .notFound:
            Self.text(.notFound, "nothing here; see /")
        }
    }

    private func tile(_ tile: TileID, language: String?, for request: Request) async throws -> Response {
        let count = tileRequests.add(1, ordering: .relaxed).newValue
        log?.append(request.uri.path)
        if knobs.latency > .zero { try await Task.sleep(for: knobs.latency) }
        if knobs.failEvery > 0, count.isMultiple(of: knobs.failEvery) {
            return Self.text(.serviceUnavailable, "refused intentionally: --fail-every \(knobs.failEvery)")
        }
        let made = WorldTile.make(
            tile, from: cutter, language: language ?? TileCutter.defaultLanguage, padding: knobs.padding)
        guard let made else { return Response(status: .noContent, headers: Self.shared) }
        let isPacked = AcceptEncoding.takes("gzip", request.headers[.acceptEncoding])
        let tag = isPacked ? "\(made.hash)-gz" : made.hash
        var headers = Self.shared
        headers[.eTag] = "\(EntityTag(tag))"
        headers[.lastModified] = Self.lastModified
        headers[.vary] = "Accept-Encoding"
        if Self.matches(request.headers[.ifNoneMatch], tag) { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = "application/vnd.mapbox-vector-tile"
        if isPacked { headers[.contentEncoding] = "gzip" }
        return Response(
            status: .ok, headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: isPacked ? made.gzip : made.vector)))
    }

    /// Browsers on other ports may read everything; it is public and the same for all.
    private static let shared: HTTPFields = [
        .cacheControl: "public, max-age=86400", .accessControlAllowOrigin: "*",
    ]

    private static func matches(_ header: String?, _ tag: String) -> Bool {
        header.flatMap(EntityTags.init)?.matchWeakly(EntityTag(tag)) ?? false
    }

    /// `http://` and the Host the client used, when it is one a URL can carry.
    private func base(_ request: Request) -> String {
        let host = request.head.authority ?? ""
        let isClean =
            (1...255).contains(host.utf8.count)
            && host.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || ".-_:[]".utf8.contains(byte)
            }
        return "http://\(isClean ? host : fallbackHost)"
    }

    private static func text(
        _ status: HTTPResponse.Status, _ message: String, headers more: HTTPFields = [:]
    ) -> Response {
        var response = plain(status, body: Array("\(message)\n".utf8), type: "text/plain; charset=utf-8")
        response.headers.append(contentsOf: more)
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// A document that never changes for one binary; clients can revalidate it with its ETag.
    private static func asset(_ body: [UInt8], type: String, for request: Request) -> Response {
        let tag = WorldTile.hash(of: body)
        var headers = shared
        headers[.eTag] = "\(EntityTag(tag))"
        headers[.lastModified] = lastModified
        if matches(request.headers[.ifNoneMatch], tag) { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = type
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }

    private static func plain(_ status: HTTPResponse.Status, body: [UInt8], type: String) -> Response {
        var headers = shared
        headers[.contentType] = type
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
