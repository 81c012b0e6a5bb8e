internal import Errors
internal import HummingbirdCore
internal import WebRequests

/// Answers with tiles, TileJSON, styles, and the embedded base map.
struct MapResponder: Sendable {
    let parts: GatewayParts

    func respond(_ exchange: Exchange) async throws(Problem) -> Response {
        let (request, path, parameters) = (exchange.request, exchange.path, exchange.parameters)
        let base = exchange.base(parts.options)
        switch exchange.endpoint {
        case .tileJSON:
            let responder = TileJSONResponder(snapshot: try parts.watch.snapshot, archives: parts.archives, base: base)
            return try await responder.respond(parameters["name"] ?? "", path, to: request)
        case .tile:
            let question = try TileResponder.Question(parameters, path)
            let responder = TileResponder(
                snapshot: try parts.watch.snapshot, archives: parts.archives, metrics: parts.metrics)
            return try await responder.respond(question, to: request)
        case .style:
            let responder = StyleResponder(snapshot: try parts.watch.snapshot, styles: parts.styles, base: base)
            return try await responder.respond(
                parameters["id"] ?? "", Array(path.segments.dropFirst(2)), path, to: request)
        case .worldGlyphs: return try world(base).glyphs(parameters["file"] ?? "", to: request)
        case .worldTile: return try await world(base).tile(parameters, path, to: request)
        default: return try world(base).document(parameters, path, to: request)
        }
    }

    private func world(_ base: String) -> WorldResponder { WorldResponder(world: parts.world, base: base) }
}
