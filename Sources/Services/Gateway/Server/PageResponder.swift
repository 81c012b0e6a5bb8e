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

    /// A file of the page; `/` is `index.html`.
    static func respond(_ exchange: Exchange, _ files: PageFiles?) throws(Problem) -> Response {
        let segments = exchange.path.segments
        let name = segments.first == "ui" ? segments.dropFirst().joined(separator: "/") : "index.html"
        guard let document = files?.documents[name] else {
            throw Problem(.notFound, "This gateway has no page '\(name.prefix(100))'.")
        }
        return try respond(exchange, document)
    }

    /// A document with the policy of the page.
    static func respond(_ exchange: Exchange, _ document: ServedDocument) throws(Problem) -> Response {
        var response = try DocumentResponder.respond(document, to: exchange.request)
        response.headers.set(.contentSecurityPolicy, policy)
        return response
    }
}
