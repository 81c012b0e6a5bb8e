internal import Files
internal import Hummingbird

/// Files of the page, by their path below `/ui/`; the page itself is `index.html`, the one without scripts
/// `catalog.html`.
///
/// The module that embeds the page gives a value; without one these addresses have nothing.
package struct PageFiles: Sendable {
    /// One file.
    package struct File: Sendable {
        package let bytes: [UInt8]
        package let mediaType: String

        package init(_ bytes: [UInt8], mediaType: String) {
            self.bytes = bytes
            self.mediaType = mediaType
        }
    }

    /// Finds a file.
    package let file: @Sendable (String) -> File?

    package init(_ file: @escaping @Sendable (String) -> File?) { self.file = file }
}

/// Answers with files of the page.
enum PageResponder {
    /// MapLibre needs `blob:`; nothing needs eval or an inline style.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
        worker-src blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'
        """

    static func respond(_ exchange: Exchange, _ files: PageFiles?) throws(Problem) -> Response {
        let segments = exchange.path.segments
        let name =
            switch segments.first {
            case "ui": segments.dropFirst().joined(separator: "/")
            case "catalog.html": "catalog.html"
            default: "index.html"
            }
        guard let file = files?.file(name) else {
            throw Problem(.notFound, "This gateway has no page '\(name.prefix(100))'.")
        }
        var response = try DocumentResponder.respond(
            ServedDocument(file.bytes, mediaType: file.mediaType), to: exchange.request)
        response.headers.set("Content-Security-Policy", policy)
        return response
    }
}
