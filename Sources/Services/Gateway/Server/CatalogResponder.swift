internal import Errors
internal import HummingbirdCore
internal import WebRequests
internal import WebServer

/// Answers with lists and files of the catalog.
enum CatalogResponder {
    static func list(_ routed: RoutedRequest) throws(Problem) -> Response { try document(routed).response }

    static func listNow(_ routed: RoutedRequest) throws(Problem) -> Route.QuickAnswer {
        .ready(try document(routed))
    }

    private static func document(_ routed: RoutedRequest) throws(Problem) -> WholeAnswer {
        let path = routed.path
        guard let document = try routed.services.watch.snapshot.documents[place(path)] else {
            throw Problem(.notFound, "The catalog has no list '\(path.text.prefix(200))'.")
        }
        return try DocumentResponder.answer(document, to: routed.request)
    }

    static func file(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await responder(routed).respond(to: routed.request)
    }

    static func fileNow(_ routed: RoutedRequest) throws(Problem) -> Route.QuickAnswer {
        let file = try responder(routed)
        if let answer = try file.answerNow(to: routed.request) { return .ready(answer) }
        return .waits { (routed: RoutedRequest) async throws(Problem) -> Response in
            try await file.respond(to: routed.request)
        }
    }

    private static func responder(_ routed: RoutedRequest) throws(Problem) -> FileResponder {
        let (path, services) = (routed.path, routed.services)
        let snapshot = try services.watch.snapshot
        guard let file = snapshot.files[place(path)] else {
            throw Problem(.notFound, "No list of the catalog names '\(path.text.prefix(200))'.")
        }
        let (access, caller) = (services.access, routed.caller)
        try access.checkBytes(caller)
        return FileResponder(
            folder: snapshot.folder, file: file, isDownload: path.parameter("download") != nil,
            metrics: services.metrics,
            accelerated: services.options.accelerated, sender: routed.sender
        ) { access.add(bytes: $0, caller) }
    }

    private static func place(_ path: RequestPath) -> String { CatalogPath(path.segments)?.text ?? "" }
}
