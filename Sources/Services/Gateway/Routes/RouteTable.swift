/// All routes of the gateway.
///
/// Of two routes that fit a path the first one is taken, so texts come before parameters.
enum RouteTable {
    static let routes: [Route] = service + cluster + catalogAPI + maps + carto + catalog

    private static let text = RouteAnswer.media(["text/plain"])

    private static let service = [
        Route(
            .get, "/", name: "page", group: .page, access: .open, summary: "The page", answer: PageResponder.answer,
            handler: PageResponder.file),
        Route(
            .get, "/ui/{path+}", name: "page", group: .page, access: .open, summary: "Files of the page",
            answer: PageResponder.answer, handler: PageResponder.file),
        Route(
            .get, "/catalog.html", name: "catalog-page", group: .page, access: .published,
            summary: "The catalog as a page without scripts", answer: .media(["text/html"]),
            handler: PageResponder.catalog),
        Route(
            .get, "/healthz", name: "health", access: .open, rate: nil, summary: "Whether the process runs",
            answer: text, handler: ServiceResponder.health),
        Route(
            .get, "/readyz", name: "ready", access: .open, rate: nil, summary: "Whether the catalog can be read",
            answer: .json("Ready"), handler: ServiceResponder.ready),
        Route(
            .get, "/metrics", name: "metrics", access: .metrics, rate: nil,
            summary: "Counters in the format of Prometheus", answer: text, handler: ServiceResponder.metrics),
        Route(
            .get, "/openapi.json", name: "openapi", access: .open, summary: "This document", answer: .json(nil),
            handler: ServiceResponder.openAPI),
        Route(
            .get, "/problems/{code}", name: "problem", access: .open, summary: "What an error code means", answer: text,
            handler: ServiceResponder.problem),
    ]
}
