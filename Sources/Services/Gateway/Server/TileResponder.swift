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

/// Answers with one tile of a package, or of all packages of a tileset.
struct TileResponder: Sendable {
    let snapshot: CatalogSnapshot
    let archives: OpenArchives
    let metrics: GatewayMetrics

    /// The route of tiles.
    static func tile(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let (wanted, services) = (try TileRequest(routed), routed.services)
        let responder = TileResponder(
            snapshot: try services.watch.snapshot, archives: services.archives, metrics: services.metrics)
        return try await responder.respond(wanted, to: routed.request)
    }

    /// The answer: 200; 204 for a tile inside the mask that the origin does not have.
    ///
    /// - Throws: ``Problem`` `outside-the-package`, `not-found`, `damaged`.
    func respond(_ wanted: TileRequest, to request: Request) async throws(Problem) -> Response {
        let versions = snapshot.maps.maps(wanted.source, edition: wanted.edition)
        guard !versions.isEmpty else {
            throw Problem(.notFound, "The catalog has no such package, version or tileset.")
        }
        let isFixed = if case .version = wanted.source { true } else { false }
        guard let map = versions.first(where: { $0.claims(wanted.tile) }) else {
            metrics.tile(.outside)
            throw Problem(
                .outside, "No package here has tile \(wanted.tile).",
                headers: [.cacheControl: isFixed ? "public, max-age=3600" : "public, max-age=60"])
        }
        let file = try Self.file(of: map, wanted.format)
        let tile = wanted.tile
        let found: TileBody?
        do throws(Problem) {
            found = try await archives.read(file, in: snapshot.folder) { (archive) throws(ArchiveError) in
                try archive.find(tile).body?.served()
            }
        } catch {
            if error.code == .damaged { metrics.tile(.damaged) }
            throw error
        }
        metrics.tile(found == nil ? .empty : .found)
        var headers: HTTPFields = [
            .cacheControl: isFixed ? "public, max-age=31536000, immutable" : "public, max-age=60",
            .vary: "Accept-Encoding",
        ]
        guard var body = found else { return Response(status: .noContent, headers: headers) }
        if let suffix = wanted.suffix, let format = body.format, !format.traits.suffixes.contains(suffix) {
            throw Problem(.notFound, "The tiles of this package are \(format.rawValue), not \(suffix.prefix(20)).")
        }
        var tag = String(Digest(of: body.bytes).hex.prefix(32))
        if body.coding == .gzip, !AcceptEncoding.takes("gzip", request.headers[.acceptEncoding]) {
            do throws(TileBodiesError) { body.bytes = try Gzip.decompress(body.bytes) } catch {
                throw Problem(.damaged, "Tile \(tile) of '\(file.path)' cannot be unpacked.")
            }
            body.coding = .identity
            tag += "-plain"
        }
        headers[.eTag] = "\(EntityTag(tag))"
        switch Conditions(request.headers).outcome(Conditions.Validators(tag: EntityTag(tag))) {
        case .failed: throw Problem(.preconditionFailed, "The tile has the tag \(EntityTag(tag)).")
        case .notModified: return Response(status: .notModified, headers: headers)
        case .proceed: break
        }
        headers[.contentType] = body.format?.mediaType ?? "application/octet-stream"
        if body.coding == .gzip { headers[.contentEncoding] = "gzip" }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body.bytes)))
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
