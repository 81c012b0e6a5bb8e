internal import CatalogFormat
internal import HTTPTypes
internal import HummingbirdCore

/// Answers with lists and tiles of the other catalogs, for those who compare them with the main one.
enum OtherCatalogResponder {
    private struct Names: Encodable, Sendable {
        /// Sorted.
        let catalogs: [String]
    }

    static func names(_ routed: RoutedRequest) throws(Problem) -> Response {
        APIResponder.json(Names(catalogs: routed.services.otherCatalogs.keys.sorted()))
    }

    static func index(_ routed: RoutedRequest) throws(Problem) -> Response {
        guard let document = try snapshot(routed).documents[CatalogIndex.fileName] else {
            throw Problem(.catalogAway, "The catalog has no list now.", retryAfter: 2)
        }
        return try DocumentResponder.respond(document, to: routed.request, cacheControl: "private, no-cache")
    }

    static func tileJSON(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let responder = TileJSONResponder(
            snapshot: try snapshot(routed), archives: routed.services.archives,
            base: "\(routed.base)/v1/catalogs/\(routed["catalog"])")
        return try await responder.respond(routed["name"], routed.path, to: routed.request)
    }

    static func tile(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await TileResponder.tile(routed, of: try snapshot(routed))
    }

    private static func snapshot(_ routed: RoutedRequest) throws(Problem) -> CatalogSnapshot {
        try routed.services.snapshot(ofCatalog: routed["catalog"])
    }
}
