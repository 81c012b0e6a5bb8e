internal import Errors
internal import HummingbirdCore
internal import WebRequests

/// Answers with lists and files of the catalog.
struct CatalogResponder: Sendable {
    let parts: GatewayParts

    func respond(_ exchange: Exchange) async throws(Problem) -> Response {
        let snapshot = try parts.watch.snapshot
        let (path, request) = (exchange.path, exchange.request)
        let place = CatalogPath(path.segments)?.text ?? ""
        guard exchange.endpoint == .catalogFile else {
            guard let document = snapshot.documents[place] else {
                throw Problem(.notFound, "The catalog has no list '\(path.text.prefix(200))'.")
            }
            return try DocumentResponder.respond(document, to: request)
        }
        guard let file = snapshot.files[place] else {
            throw Problem(.notFound, "No list of the catalog names '\(path.text.prefix(200))'.")
        }
        try parts.access.checkBytes(exchange.caller)
        let (access, caller) = (parts.access, exchange.caller)
        let responder = FileResponder(
            folder: snapshot.folder, file: file, isDownload: path.parameter("download") != nil, metrics: parts.metrics,
            accelerated: parts.options.accelerated, sender: parts.sender(exchange)
        ) { access.add(bytes: $0, caller) }
        return try await responder.respond(to: request)
    }
}
