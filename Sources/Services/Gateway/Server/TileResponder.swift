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
internal import WebRequests

/// Answers with one tile of a package, or of all packages of a tileset.
struct TileResponder: Sendable {
    let snapshot: CatalogSnapshot
    let archives: OpenArchives
    let metrics: GatewayMetrics

    /// What a path below `/tiles` asks for.
    struct Question: Sendable, Hashable {
        var source: MapIndex.Source
        /// The path of the edition.
        var edition: String
        var tile: TileID
        /// `pbf`, `png`; `nil` when the path has no extension.
        var suffix: String?
        /// `mbtiles` or `pmtiles`; `nil` takes what is there.
        var format: String?

        /// Reads the parameters of the route.
        ///
        /// - Throws: ``Problem`` `not-found` for what is no source, `no-such-tile`.
        init(_ parameters: [String: String], _ path: RequestPath) throws(Problem) {
            let name = parameters["name"] ?? ""
            guard let source = MapIndex.Source(name) else {
                throw Problem(.notFound, "'\(name.prefix(60))' is not ID@VERSION, ID or ~TILESET.")
            }
            let row = (parameters["y"] ?? "").split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard let zoom = Self.number(parameters["z"]), let x = Self.number(parameters["x"]),
                let y = Self.number(row.first.map(String.init)), let tile = TileID(zoom: zoom, x: x, y: y)
            else { throw Problem(.noSuchTile, "The path does not end in ZOOM/COLUMN/ROW of a tile.") }
            self.source = source
            self.tile = tile
            edition = try Self.edition(path)
            suffix = row.count > 1 ? String(row[1]) : nil
            format = path.parameter("format")
            guard format == nil || format == "mbtiles" || format == "pmtiles" else {
                throw Problem(.badParameter, "format is mbtiles or pmtiles.")
            }
        }

        /// The parameter `edition`: `de`, `groups/terrain`, with or without a slash at the end.
        static func edition(_ path: RequestPath) throws(Problem) -> String {
            guard let text = path.parameter("edition"), !text.isEmpty else { return "" }
            guard text.utf8.count <= 100 else { throw Problem(.badParameter, "edition is too long.") }
            return text.hasSuffix("/") ? text : text + "/"
        }

        private static func number(_ text: String?) -> Int? {
            guard let text, 1...8 ~= text.utf8.count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            return Int(text)
        }
    }

    /// The answer: 200; 204 for a tile inside the mask that the origin does not have.
    ///
    /// - Throws: ``Problem`` `outside-the-package`, `not-found`, `damaged`.
    func respond(_ question: Question, to request: Request) async throws(Problem) -> Response {
        let versions = snapshot.maps.versions(question.source, edition: question.edition)
        guard !versions.isEmpty else {
            throw Problem(.notFound, "The catalog has no such package, version or tileset.")
        }
        let isFixed = if case .version = question.source { true } else { false }
        guard let map = versions.first(where: { $0.claims(question.tile) }) else {
            metrics.tile(.outside)
            throw Problem(
                .outside, "No package here has tile \(question.tile).",
                headers: [.cacheControl: isFixed ? "public, max-age=3600" : "public, max-age=60"])
        }
        let file = try Self.file(of: map, question.format)
        let tile = question.tile
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
        if let suffix = question.suffix, let format = body.format, !format.traits.suffixes.contains(suffix) {
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
        guard format != "mbtiles" else { return map.mbtiles }
        if format == "pmtiles", map.pmtiles == nil { throw Problem(.notFound, "The package has no PMTiles file.") }
        // A look-up in PMTiles needs no lock and no statement.
        return map.pmtiles ?? map.mbtiles
    }
}
