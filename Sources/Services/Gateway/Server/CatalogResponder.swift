internal import Errors
internal import HummingbirdCore
internal import WebRequests

/// Answers with lists and files of the catalog.
enum CatalogResponder {
    static func list(_ routed: RoutedRequest) throws(Problem) -> Response {
        let path = routed.path
        guard let document = try routed.services.watch.snapshot.documents[place(path)] else {
            throw Problem(.notFound, "The catalog has no list '\(path.text.prefix(200))'.")
        }
        return try DocumentResponder.respond(document, to: routed.request)
    }

    static func file(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let (path, services) = (routed.path, routed.services)
        let snapshot = try services.watch.snapshot
        guard let file = snapshot.files[place(path)] else {
            throw Problem(.notFound, "No list of the catalog names '\(path.text.prefix(200))'.")
        }
        try services.access.checkBytes(routed.caller)
        let (access, caller) = (services.access, routed.caller)
        let responder = FileResponder(
            folder: snapshot.folder, file: file, isDownload: path.parameter("download") != nil,
            metrics: services.metrics,
            accelerated: services.options.accelerated, sender: routed.sender
        ) { access.add(bytes: $0, caller) }
        return try await responder.respond(to: routed.request)
    }

    private static func place(_ path: RequestPath) -> String { CatalogPath(path.segments)?.text ?? "" }
}
