import Digests
import Errors
import Files
import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
import OfflineMaps
internal import TextFormats
import TileBodies
import Tiles

/// Answers one request of a renderer.
struct MapResponder: Sendable {
    let resources: ResourceResolver
    /// Whether the network is asked for what the store does not have.
    let isOnline: Bool
    /// The server's own address.
    let base: String

    /// Pages of any origin may read: a map page is often a file or on another port.
    private static let shared: HTTPFields = [.accessControlAllowOrigin: "*", .cacheControl: "no-cache"]

    /// The answer; errors become statuses.
    func respond(to request: Request) async -> Response {
        guard request.method == .get || request.method == .head else {
            return Self.text(.methodNotAllowed, "only GET and HEAD are answered here", more: [.allow: "GET, HEAD"])
        }
        // A page of another site could otherwise reach this server through a name that it points to 127.0.0.1.
        guard Self.isOwn(request.head.authority) else {
            return Self.text(.misdirectedRequest, "this server answers only as 127.0.0.1 or localhost")
        }
        let response: Response
        do throws(StoreError) { response = try await answer(request) } catch {
            let isNetwork = error.code == .network
            response = Self.text(isNetwork ? .badGateway : .internalServerError, error.message)
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(_ request: Request) async throws(StoreError) -> Response {
        switch MapRoute(request.uri.string) {
        case .index: return Self.text(.ok, index)
        case .style(let id):
            guard resources.styles.contains(id), let url = URL(string: base) else {
                return Self.text(.notFound, "the style '\(id)' is not installed")
            }
            let body = try resources.style(id, .served(at: url))
            return packed(Resource(body: body, mediaType: "application/json"), request)
        case .tileset(let id):
            guard let tileset = resources.tilesets.first(where: { $0.id == id }) else {
                return Self.text(.notFound, "the tileset '\(id)' is not installed")
            }
            return packed(Resource(body: tileJSON(tileset), mediaType: "application/json"), request)
        case .resource(let path):
            let asks = isOnline && StyleHosts.allows(path, resources)
            // What was viewed before is answered without the network too.
            guard let found = try await resources.load(served: path, asks: asks) else {
                return Self.text(.notFound, "this is not on the device")
            }
            return packed(found, request)
        }
    }

    /// A resource as it is stored, unpacked only for a client that does not take its coding.
    private func packed(_ resource: Resource, _ request: Request) -> Response {
        guard !resource.isEmpty else { return Response(status: .noContent, headers: Self.shared) }
        var (body, coding) = (resource.body, resource.coding)
        if coding != .plain, !AcceptEncoding.takes(coding.header, request.headers[.acceptEncoding]) {
            let kind: BodyCoding = coding == .gzip ? .gzip : .deflate
            // The answer 500 reports a damaged body.
            guard let plain = try? kind.unpack([UInt8](body), limit: 64 << 20) else {
                return Self.text(.internalServerError, "the stored bytes cannot be unpacked")
            }
            (body, coding) = (Data(plain), .plain)
        }
        let tag = EntityTag(String(Digest(of: [UInt8](body)).hex.prefix(32)))
        var headers = Self.shared
        headers[.eTag] = "\(tag)"
        headers[.vary] = "Accept-Encoding"
        if request.headers[.ifNoneMatch].flatMap(EntityTags.init)?.matchWeakly(tag) ?? false {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = resource.mediaType
        if coding != .plain { headers[.contentEncoding] = coding.header }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }

    // MARK: - Documents

    private var index: String {
        let styles = resources.styles.map { "style    \(base)/styles/\(Self.encoded($0)).json" }
        let tilesets = resources.tilesets.map { "tileset  \(base)/tilesets/\(Self.encoded($0.id)).json" }
        let lines = styles + tilesets
        return (lines.isEmpty ? ["nothing is installed"] : lines).joined(separator: "\n")
    }

    private func tileJSON(_ tileset: InstalledTileset) -> Data {
        let document = TileJSON(
            name: tileset.id, tiles: ["\(base)/tiles/\(Self.encoded(tileset.id))/{z}/{x}/{y}"],
            minzoom: tileset.zooms.min, maxzoom: tileset.zooms.max, bounds: tileset.bounds.flatEdges,
            attribution: tileset.attributions.isEmpty ? nil : tileset.attributions.joined(separator: ", "))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and finite numbers can always be encoded.
        return (try? encoder.encode(document)) ?? Data()
    }

    private struct TileJSON: Encodable {
        let tilejson = "3.0.0"
        let name: String
        let tiles: [String]
        let minzoom: Int
        let maxzoom: Int
        let bounds: [Double]
        let attribution: String?
    }

    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    // MARK: - Headers

    /// Whether a Host is this machine's own name.
    static func isOwn(_ authority: String?) -> Bool {
        guard let authority else { return false }
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        return ["127.0.0.1", "localhost", "[::1]"].contains(host.lowercased())
    }

    private static func text(_ status: HTTPResponse.Status, _ message: String, more: HTTPFields = [:]) -> Response {
        var headers = shared
        headers[.contentType] = "text/plain; charset=utf-8"
        headers.append(contentsOf: more)
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: message + "\n")))
    }
}

extension Coding {
    /// The value of Content-Encoding.
    fileprivate var header: String {
        switch self {
        case .plain: "identity"
        case .gzip: "gzip"
        case .zlib: "deflate"
        }
    }
}
