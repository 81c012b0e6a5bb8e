internal import CatalogFormat
internal import Errors
internal import HTTPTypes
internal import HummingbirdCore
internal import PackageFiles
internal import StyleFormat
internal import TextFormats
internal import TileBodies
internal import WebRequests

/// Answers with a style of the catalog and with what it needs, read in place from its style pack.
struct StyleResponder: Sendable {
    let snapshot: CatalogSnapshot
    let styles: OpenStyles
    let archives: OpenArchives
    /// The address of this server, without a slash at the end.
    let base: String

    /// The route of styles.
    static func style(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let services = routed.services
        let responder = StyleResponder(
            snapshot: try services.watch.snapshot, styles: services.styles, archives: services.archives,
            base: routed.base)
        return try await responder.respond(
            routed["id"], Array(routed.path.segments.dropFirst(2)), routed.path, to: routed.request)
    }

    /// The answer.
    ///
    /// - Parameter segments: The path inside of the pack.
    /// - Throws: ``Problem`` `not-found`, `damaged`.
    func respond(
        _ id: String, _ segments: [String], _ path: RequestPath, to request: Request
    ) async throws(Problem) -> Response {
        let style = snapshot.index.styles?.first { $0.id == id }
        guard let style, let file = snapshot.files[style.url] else {
            throw Problem(.notFound, "The catalog has no style '\(id.prefix(60))'.")
        }
        let name = segments.joined(separator: "/")
        // Names that are no file names are written in another way in packs.
        let other = segments.map { part in
            let stem = part.prefix { $0 != "." }
            return PackPath.part(String(stem)) + part.dropFirst(stem.count)
        }
        let names = [name, other.joined(separator: "/"), segments.map(PackPath.part).joined(separator: "/")]
        guard var bytes = try await styles.bytes(names, of: file, in: snapshot.folder) else {
            throw Problem(
                .notFound, "The style '\(id)' has no '\(name.prefix(200))'.",
                headers: [.cacheControl: "public, max-age=60"])
        }
        if name == PackPath.style {
            let edition = try TileRequest.edition(path)
            let sources = await sources(edition)
            do throws(StylesError) { bytes = try rewriting(id, edition, bytes, sources).apply(to: bytes) } catch {
                throw Problem(.damaged, "The style '\(id)' cannot be rewritten: \(Sentence.inner(error.message))")
            }
        }
        let document = ServedDocument(bytes, mediaType: Self.mediaType(name))
        return try DocumentResponder.respond(document, to: request, cacheControl: "public, max-age=60")
    }

    /// How renderers read the tiles of each tileset, as the metadata of its first package say.
    private func sources(_ edition: String) async -> [String: TileSourceMembers] {
        var found: [String: TileSourceMembers] = [:]
        for tileset in snapshot.maps.tilesets(edition: edition) {
            guard let first = snapshot.maps.versions(.tileset(tileset), edition: edition).first else { continue }
            // A package that cannot be read is named by the answers for its tiles.
            found[tileset] = try? await archives.read(first.main, in: snapshot.folder) {
                (archive) throws(ArchiveError) in
                let rows = try archive.facts().rows
                return TileSourceMembers(rows: rows, format: rows["format"].flatMap(TileFormat.init(word:)))
            }
        }
        return found
    }

    /// Addresses below this server: those of files of the pack, and those of tilesets that the catalog has.
    private func rewriting(
        _ id: String, _ edition: String, _ style: [UInt8], _ sources: [String: TileSourceMembers]
    ) -> StyleRewriting {
        let root = "\(base)/style/\(id)/"
        let full = { (reference: String) in URLReference.scheme(of: reference) == nil ? root + reference : reference }
        let tilesets = snapshot.maps.tilesets(edition: edition)
        let only = Self.only(style)
        let query = edition.isEmpty ? "" : "?edition=\(edition)"
        return StyleRewriting(
            reference: full, sprite: { full($1) }, glyphs: full,
            tiles: { name, members in
                var members = members
                let tileset = tilesets.contains(name) ? name : name == only && tilesets.count == 1 ? tilesets[0] : nil
                if let tileset {
                    for key in ["tiles", "scheme", "minzoom", "maxzoom", "bounds"] { members[key] = nil }
                    members["url"] = .string("\(base)/tiles/~\(tileset).json\(query)")
                    sources[tileset]?.correct(&members)
                } else if case .string(let url)? = members["url"] {
                    members["url"] = .string(full(url))
                }
                return members
            })
    }

    /// The only source with tiles that a map can be of: the only one, or the only one with vector tiles.
    private static func only(_ style: [UInt8]) -> String? {
        guard case .object(let root)? = JSONValue(json: style), case .object(let sources)? = root["sources"] else {
            return nil
        }
        func names(_ types: [String]) -> [String] {
            sources.compactMap { name, source in
                guard case .object(let members) = source, case .string(let type)? = members["type"] else { return nil }
                return types.contains(type) ? name : nil
            }
        }
        let (all, vectors) = (names(["vector", "raster", "raster-dem"]), names(["vector"]))
        return all.count == 1 ? all[0] : vectors.count == 1 ? vectors[0] : nil
    }

    static func mediaType(_ name: String) -> String {
        if let image = images.first(where: { $0 == TileFormat(ofAddress: name) }) { return image.mediaType }
        return types[String(name.split(separator: ".").last ?? "")] ?? otherType
    }

    /// Media types by extension, without those of images.
    private static let types = [
        "json": "application/json", "geojson": "application/json", "pbf": "application/x-protobuf",
    ]
    private static let images = TileFormat.allCases.filter { !$0.traits.isVector }
    private static let otherType = "application/octet-stream"

    /// All media types of what a style needs.
    static var mediaTypes: [String] { Set(types.values).union(images.map(\.mediaType)).sorted() + [otherType] }
}
