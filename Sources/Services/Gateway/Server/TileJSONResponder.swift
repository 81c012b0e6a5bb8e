internal import CatalogFormat
internal import Errors
internal import Foundation
internal import HummingbirdCore
internal import PackageFiles
internal import TextFormats
internal import TileBodies
internal import Tiles
internal import WebRequests

/// Answers with TileJSON 3.0 of a package or a tileset.
struct TileJSONResponder: Sendable {
    let snapshot: CatalogSnapshot
    let archives: OpenArchives
    /// The address of this server, without a slash at the end.
    let base: String

    /// The route of TileJSON.
    static func tileJSON(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let services = routed.services
        let responder = TileJSONResponder(
            snapshot: try services.watch.snapshot, archives: services.archives, base: routed.base)
        return try await responder.respond(routed["name"], routed.path, to: routed.request)
    }

    /// The document.
    ///
    /// - Parameter name: `ID@V`, `ID` or `~TILESET`.
    /// - Throws: ``Problem`` `not-found`, `damaged`.
    func respond(_ name: String, _ path: RequestPath, to request: Request) async throws(Problem) -> Response {
        guard let source = MapIndex.Source(name) else {
            throw Problem(.notFound, "'\(name.prefix(60))' is not ID@VERSION, ID or ~TILESET.")
        }
        let edition = try TileRequest.edition(path)
        let versions = snapshot.maps.maps(source, edition: edition)
        guard let first = versions.first else {
            throw Problem(.notFound, "The catalog has no such package, version or tileset.")
        }
        let metadata = try await archives.read(first.main, in: snapshot.folder) { (archive) throws(ArchiveError) in
            try archive.facts().rows
        }
        let document = self.document(source, edition, versions, first, metadata)
        return try DocumentResponder.respond(ServedDocument(JSONDocument.encode(document)), to: request)
    }

    private func document(
        _ source: MapIndex.Source, _ edition: String, _ versions: [MapVersion], _ first: MapVersion,
        _ metadata: [String: String]
    ) -> JSONValue {
        func numbers(_ row: String, _ count: Int) -> JSONValue? {
            let values = (metadata[row] ?? "").split(separator: ",").compactMap {
                Double($0.trimmingCharacters(in: .whitespaces))
            }.filter(\.isFinite)
            return values.count == count ? .array(values.map(JSONValue.number)) : nil
        }
        let format = metadata["format"].flatMap(TileFormat.init(word:))
        let place: String
        var name = metadata["name"]
        var isTileset = false
        switch source {
        // The address names the version, so that a map never mixes two of them.
        case .version, .newest: place = versions.count > 1 ? first.wholeName : first.name
        case .tileset(let tileset):
            place = "~\(tileset)"
            name = tileset
            isTileset = true
        }
        let suffix = format.map { ".\($0.rawValue)" } ?? ""
        let query = edition.isEmpty ? "" : "?edition=\(edition)"
        var members: [String: JSONValue] = [
            "tilejson": .string("3.0.0"), "scheme": .string("xyz"),
            "tiles": .array([.string("\(base)/tiles/\(Self.escaped(place))/{z}/{x}/{y}\(suffix)\(query)")]),
            "minzoom": .number(Double(versions.map(\.zooms.min).min() ?? 0)),
            "maxzoom": .number(Double(versions.map(\.zooms.max).max() ?? 0)),
        ]
        // The name of a part ends in its number.
        let number = " \(first.partNumber)"
        if versions.count > 1, !isTileset, let text = name, text.hasSuffix(number) {
            name = String(text.dropLast(number.count))
        }
        members["name"] = name.map(JSONValue.string)
        var attributions: [String] = []
        for text in versions.compactMap(\.version.attribution) + [metadata["attribution"]].compactMap(\.self)
        where !text.isEmpty && !attributions.contains(text) { attributions.append(text) }
        if !attributions.isEmpty { members["attribution"] = .string(attributions.joined(separator: ", ")) }
        if !isTileset {
            members["bounds"] = versions.count > 1 ? Self.bounds(of: versions) : numbers("bounds", 4).map(Self.flat)
            members["center"] = versions.count > 1 ? nil : numbers("center", 3)
            members["description"] = metadata["description"].map(JSONValue.string)
            members["version"] = .string("\(first.version.version).0.0")
        }
        if let json = metadata["json"], case .object(let object)? = JSONValue(json: Array(json.utf8)) {
            members["vector_layers"] = object["vector_layers"]
        }
        members.merge(TileSourceMembers(rows: metadata, format: format).tileJSON) { $1 }
        return .object(members)
    }

    /// The box around the tiles of all parts; the low zooms, which every part has, are not in it.
    private static func bounds(of parts: [MapVersion]) -> JSONValue? {
        guard let first = parts.compactMap(\.mask.bounds).first else { return nil }
        let box = parts.compactMap(\.mask.bounds).reduce(first) { $0.union($1) }
        return .array([box.west, box.south, box.east, box.north].map(JSONValue.number))
    }

    /// TileJSON 3.0 forbids a west above the east, which packages of format 1 over longitude 180 have.
    private static func flat(_ bounds: JSONValue) -> JSONValue {
        guard case .array(let edges) = bounds, case .number(let west)? = edges.first, edges.count == 4,
            case .number(let east) = edges[2], west > east
        else { return bounds }
        return .array([.number(-180), edges[1], .number(180), edges[3]])
    }

    /// A name as a part of a path; the letters of ids, `@` and `~` stay.
    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~@(),")))
            ?? text
    }
}
