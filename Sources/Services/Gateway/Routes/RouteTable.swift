internal import WebRequests

/// A method.
enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
}

/// One row of the table of routes.
struct RouteRow: Sendable {
    let method: Method
    /// The path as OpenAPI writes it: `/tiles/{id}.json`; `{path+}` at the end stands for one or more segments.
    let template: String
    let endpoint: Endpoint
    let summary: String
    /// The parameters of the query.
    let query: [String]
    /// The name of the schema of the body; `nil` without a body.
    let body: String?
    let pattern: RoutePattern

    init(
        _ method: Method, _ template: String, _ endpoint: Endpoint, _ summary: String, query: [String] = [],
        body: String? = nil
    ) {
        self.method = method
        self.template = template
        self.endpoint = endpoint
        self.summary = summary
        self.query = query
        self.body = body
        pattern = RoutePattern(template)
    }
}

/// All routes: the router and the OpenAPI document are made from this table.
///
/// The first row whose pattern fits is the route, so texts come before parameters.
enum RouteTable {
    static let rows: [RouteRow] = service + api + maps + carto + catalog

    private static let service = [
        RouteRow(.get, "/", .page, "The page"),
        RouteRow(.get, "/ui/{path+}", .page, "Files of the page"),
        RouteRow(.get, "/catalog.html", .catalogPage, "The catalog as a page without scripts"),
        RouteRow(.get, "/healthz", .health, "Whether the process runs"),
        RouteRow(.get, "/readyz", .ready, "Whether the catalog can be read"),
        RouteRow(.get, "/metrics", .metrics, "Counters in the format of Prometheus"),
        RouteRow(.get, "/openapi.json", .openAPI, "This document"),
        RouteRow(.get, "/problems/{code}", .problem, "What an error code means"),
    ]

    private static let api = [
        RouteRow(.get, "/v1/status", .status, "The state of the cluster and of the catalog"),
        RouteRow(.post, "/v1/estimates", .estimate, "How many tiles a job would have", body: "Submission"),
        RouteRow(.post, "/v1/jobs", .submit, "Submit a job", body: "Submission"),
        RouteRow(.get, "/v1/jobs", .jobs, "Jobs, the newest first", query: ["state", "label", "before", "limit"]),
        RouteRow(.post, "/v1/jobs/orders", .jobOrders, "Order something for many jobs", body: "JobOrders"),
        RouteRow(.get, "/v1/jobs/{job}", .job, "A job"),
        RouteRow(.get, "/v1/jobs/{job}/packages", .jobPackages, "The packages of a job"),
        RouteRow(.get, "/v1/jobs/{job}/failures", .jobFailures, "The failed tiles of a job"),
        RouteRow(
            .get, "/v1/jobs/{job}/coverage", .jobCoverage, "The cells of a running job by state", query: ["size"]),
        RouteRow(.post, "/v1/jobs/{job}/orders", .jobOrder, "Order something for a job", body: "JobOrder"),
        RouteRow(
            .post, "/v1/jobs/{job}/failed/orders", .failedOrder, "Requeue or drop failed work", body: "FailedOrder"),
        RouteRow(.get, "/v1/failed", .failed, "Failed work", query: ["job", "after", "limit"]),
        RouteRow(.get, "/v1/schedules", .schedules, "Schedules"),
        RouteRow(
            .put, "/v1/schedules/{schedule}", .schedulePut, "Add or replace a repeated submission", body: "Schedule"),
        RouteRow(.delete, "/v1/schedules/{schedule}", .scheduleDrop, "Remove a schedule; its jobs stay"),
        RouteRow(.get, "/v1/workers", .workers, "Workers"),
        RouteRow(.post, "/v1/workers/{worker}/orders", .workerOrder, "Drain a worker, or undo it", body: "WorkerOrder"),
        RouteRow(.get, "/v1/origins", .origins, "Origins and their limits"),
        RouteRow(
            .get, "/v1/events", .events, "The event log, as pages or as a stream", query: ["after", "job", "limit"]),
        RouteRow(.post, "/v1/backups", .backup, "Back up the state of the coordinator", body: "Backup"),
        RouteRow(.get, "/v1/tilesets", .tilesets, "What may be submitted"),
        RouteRow(.get, "/v1/regions", .regions, "Regions by name", query: ["q", "lang"]),
        RouteRow(.get, "/v1/regions/{region}", .region, "A region", query: ["lang"]),
        RouteRow(
            .get, "/v1/regions/{region}/outline", .regionOutline, "The outline of a region as GeoJSON",
            query: ["zoom"]),
        RouteRow(.get, "/v1/packages", .packages, "Packages of the catalog", query: ["at", "q", "group", "language"]),
        RouteRow(.get, "/v1/packages/{package}", .package, "A package", query: ["from", "edition"]),
        RouteRow(
            .delete, "/v1/packages/{package}", .packageWithdrawal, "Withdraw a package from the catalog",
            query: ["group", "language"]),
        RouteRow(.post, "/v1/extracts", .extractOrder, "Order a package of a box or a mask", body: "Extract"),
        RouteRow(.get, "/v1/extracts/{extract}", .extract, "The state of an extract"),
    ]

    private static let maps = [
        RouteRow(.get, "/tiles/{name}.json", .tileJSON, "TileJSON of a package or of a tileset", query: ["edition"]),
        RouteRow(
            .get, "/tiles/{name}/{z}/{x}/{y}", .tile, "A tile of a package or of a tileset",
            query: ["edition", "format"]),
        RouteRow(.get, "/style/{id}/{path+}", .style, "A style, and what it needs", query: ["edition"]),
        RouteRow(.get, "/world/fonts/{stack}/{file}", .worldGlyphs, "Glyphs of the embedded base map"),
        RouteRow(
            .get, "/world/tiles/{z}/{x}/{y}.pbf", .worldTile, "A tile of the embedded base map", query: ["language"]),
        RouteRow(
            .get, "/world/{language}/tiles/{z}/{x}/{y}.pbf", .worldTile,
            "A tile of the embedded base map with names in a language"),
        RouteRow(
            .get, "/world/{language}/tiles.json", .worldDocument,
            "TileJSON of the embedded base map with names in a language"),
        RouteRow(.get, "/world/{z}/{x}/{y}.pbf", .worldTile, "A tile of the embedded base map", query: ["language"]),
        RouteRow(
            .get, "/world/{document}", .worldDocument, "Style, TileJSON and sprite of the embedded base map",
            query: ["language"]),
    ]

    private static let carto = [
        RouteRow(
            .get, "/carto/{tileset}/packages.json", .cartoList, "The list for CARTO's client", query: ["appToken"]),
        RouteRow(
            .get, "/mappackages/v2/{tileset}/2/packages.json", .cartoList, "The list for CARTO's client",
            query: ["appToken"]),
        RouteRow(
            .get, "/carto/{tileset}/{mask}.mbtiles", .cartoArea, "The package of a mask, built on request",
            query: ["appToken"]),
        RouteRow(
            .get, "/maparea/v2/{tileset}/1/{mask}.mbtiles", .cartoArea, "The package of a mask, built on request",
            query: ["appToken"]),
    ]

    private static let catalog: [RouteRow] =
        [
            RouteRow(.get, "/catalog.json", .catalogList, "Everything that a client can install"),
            RouteRow(.get, "/catalog.json.sig", .catalogList, "The signatures of catalog.json"),
            RouteRow(
                .get, "/styles/{version}/{file}", .catalogFile, "A style pack, a ZIP archive", query: ["download"]),
        ]
        + ["", "/groups/{group}", "/groups/{group}/{language}", "/{language}"].flatMap { edition in
            [
                RouteRow(.get, edition + "/packages.json", .catalogList, "The list of an edition, for CARTO's client"),
                RouteRow(.get, edition + "/regions/{file}", .catalogList, "The tile packs of a package"),
                RouteRow(
                    .get, edition + "/packages/{version}/{file}", .catalogFile, "A file of a package",
                    query: ["download"]),
                RouteRow(.get, edition + "/patches/{id}/{file}", .catalogFile, "A patch between two versions"),
                RouteRow(
                    .get, edition + "/packs/{tileset}/{zoom}/{x}/{y}/{file}", .catalogFile,
                    "A tile pack, which regions share"),
            ]
        }
}
