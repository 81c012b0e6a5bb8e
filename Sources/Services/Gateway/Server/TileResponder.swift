internal import Digests
internal import Errors
internal import Files
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import PackageFiles
internal import TextFormats
internal import TileBodies
internal import Tiles
internal import WebServer

/// Answers with one tile of a package, or of all packages of a tileset.
struct TileResponder: Sendable {
    private let wanted: TileRequest
    /// The package that claims the tile.
    private let file: ServedFile
    private let services: GatewayServices
    private let folder: CatalogFolder
    /// Whether it is one of another catalog: its address needs a token, and a catalog that is made new may use a version again.
    private let isElsewhere: Bool

    /// The route of tiles: 200; 204 for a tile inside the mask that the origin does not have.
    ///
    /// - Throws: ``Problem`` `outside-the-package`, `not-found`, `damaged`.
    static func tile(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await TileResponder(routed).respond(to: routed.request)
    }

    /// The answer of another catalog than the main one, which a cache that many people share must not keep.
    static func tile(_ routed: RoutedRequest, of other: CatalogSnapshot) async throws(Problem) -> Response {
        try await TileResponder(routed, of: other).respond(to: routed.request)
    }

    /// The same answer at once for an open PMTiles file whose bytes the system has in memory.
    static func tileNow(_ routed: RoutedRequest) throws(Problem) -> Route.QuickAnswer {
        let responder = try TileResponder(routed)
        if let found = try responder.findAtOnce() {
            return .ready(try responder.answer(found.body, to: routed.request))
        }
        return .waits { (routed: RoutedRequest) async throws(Problem) -> Response in
            try await responder.respond(to: routed.request)
        }
    }

    private init(_ routed: RoutedRequest, of other: CatalogSnapshot? = nil) throws(Problem) {
        (wanted, services, isElsewhere) = (try TileRequest(routed), routed.services, other != nil)
        let snapshot: CatalogSnapshot
        if let other { snapshot = other } else { snapshot = try services.watch.snapshot }
        let tile = wanted.tile
        folder = snapshot.folder
        let versions = snapshot.maps.maps(wanted.source, edition: wanted.edition)
        guard !versions.isEmpty else {
            throw Problem(.notFound, "The catalog has no such package, version or tileset.")
        }
        guard let map = versions.first(where: { $0.claims(tile) }) else {
            services.metrics.tile(.outside)
            throw Problem(
                .outside, "No package here has tile \(tile).",
                headers: [
                    .cacheControl: (isElsewhere ? "private" : "public")
                        + (wanted.isFixed ? ", max-age=3600" : ", max-age=60")
                ])
        }
        file = try Self.file(of: map, wanted.format)
    }

    private func respond(to request: Request) async throws(Problem) -> Response {
        try answer(try await find(), to: request).response
    }

    private func find() async throws(Problem) -> TileBody? {
        let tile = wanted.tile
        do throws(Problem) {
            return try await services.archives.read(file, in: folder) { (archive) throws(ArchiveError) in
                try archive.find(tile).body?.served()
            }
        } catch { throw counted(error) }
    }

    private func findAtOnce() throws(Problem) -> StoredTile<TileBody>? {
        do throws(Problem) { return try services.archives.findAtOnce(wanted.tile, file) } catch { throw counted(error) }
    }

    private func counted(_ error: Problem) -> Problem {
        if error.code == .damaged { services.metrics.tile(.damaged) }
        return error
    }

    private func answer(_ found: TileBody?, to request: Request) throws(Problem) -> WholeAnswer {
        services.metrics.tile(found == nil ? .empty : .found)
        var headers: HTTPFields = [
            .cacheControl: isElsewhere
                ? "private, max-age=3600"
                : wanted.isFixed ? "public, max-age=31536000, immutable" : "public, max-age=60",
            .vary: "Accept-Encoding",
        ]
        guard var body = found else { return WholeAnswer(status: .noContent, headers: headers) }
        if let suffix = wanted.suffix, let format = body.format, !format.traits.suffixes.contains(suffix) {
            throw Problem(.notFound, "The tiles of this package are \(format.rawValue), not \(suffix.prefix(20)).")
        }
        var tag = String(Digest(of: body.bytes).hex.prefix(32))
        if body.coding == .gzip, !AcceptEncoding.takes("gzip", request.headers[.acceptEncoding]) {
            do throws(TileBodiesError) { body.bytes = try Gzip.decompress(body.bytes) } catch {
                throw Problem(.damaged, "Tile \(wanted.tile) of '\(file.path)' cannot be unpacked.")
            }
            body.coding = .identity
            tag += "-plain"
        }
        headers[.eTag] = "\(EntityTag(tag))"
        switch Conditions(request.headers).outcome(Conditions.Validators(tag: EntityTag(tag))) {
        case .failed: throw Problem(.preconditionFailed, "The tile has the tag \(EntityTag(tag)).")
        case .notModified: return WholeAnswer(status: .notModified, headers: headers)
        case .proceed: break
        }
        headers[.contentType] = body.format?.mediaType ?? "application/octet-stream"
        if body.coding == .gzip { headers[.contentEncoding] = "gzip" }
        return WholeAnswer(status: .ok, headers: headers, body: ByteBuffer(bytes: body.bytes))
    }

    private static func file(of map: MapVersion, _ format: String?) throws(Problem) -> ServedFile {
        if format == "mbtiles" {
            guard let file = map.mbtiles else { throw Problem(.notFound, "The package has no MBTiles file.") }
            return file
        }
        if format == "pmtiles", map.pmtiles == nil { throw Problem(.notFound, "The package has no PMTiles file.") }
        // A look-up in PMTiles needs no lock and no statement.
        return map.pmtiles ?? map.main
    }
}
