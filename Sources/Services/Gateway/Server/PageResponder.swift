internal import Files
internal import HTTPTypes
internal import HummingbirdCore
internal import WebRequests

/// Files of the page, by their path below `/ui/`; the page itself is `index.html`.
package struct PageFiles: Sendable {
    /// By path.
    let documents: [String: ServedDocument]
}

/// Answers with files of the page.
enum PageResponder {
    /// MapLibre needs `blob:`; nothing needs eval or an inline style.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
        worker-src blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'
        """

    static let answer = RouteAnswer.media(["text/html", "text/javascript", "text/css", "application/json"])

    /// A file of the page; `/` is `index.html`.
    static func file(_ routed: RoutedRequest) throws(Problem) -> Response {
        let segments = routed.path.segments
        let name = segments.first == "ui" ? segments.dropFirst().joined(separator: "/") : "index.html"
        guard let document = routed.services.options.page?.documents[name] else {
            throw Problem(.notFound, "This gateway has no page '\(name.prefix(100))'.")
        }
        return try respond(routed, document)
    }

    /// The catalog as a page.
    static func catalog(_ routed: RoutedRequest) throws(Problem) -> Response {
        try respond(routed, try routed.services.watch.snapshot.page)
    }

    /// A document with the policy of the page.
    private static func respond(_ routed: RoutedRequest, _ document: ServedDocument) throws(Problem) -> Response {
        var response = try DocumentResponder.respond(document, to: routed.request)
        response.headers.set(.contentSecurityPolicy, policy)
        return response
    }
}
