internal import TileBodies

/// Routes of the catalog: its lists and files, as they lie in its folder, and what `/v1` says about it.
extension RouteTable {
    static let catalogAPI = [
        Route(
            .get, "/v1/session", name: "session", access: .open,
            summary: "The roles of the token, and whether the catalog needs one", answer: .json("Session"),
            handler: APIResponder.session),
        Route(
            .get, "/v1/tilesets", name: "tilesets", access: .anyRole, summary: "What may be submitted",
            answer: .json("Tilesets"), handler: APIResponder.tilesets),
        Route(
            .get, "/v1/regions", name: "regions", access: .open, summary: "Regions and towns by name",
            query: ["q", "lang"],
            answer: .json("Regions"), handler: RegionResponder.regions),
        Route(
            .get, "/v1/regions/{region}", name: "region", access: .open, summary: "A region", query: ["lang"],
            answer: .json("Region"), handler: RegionResponder.region),
        Route(
            .get, "/v1/regions/{region}/outline", name: "region-outline", access: .open,
            summary: "The outline of a region as GeoJSON", query: ["zoom"], answer: .media(["application/geo+json"]),
            handler: RegionResponder.outline),
        Route(
            .get, "/v1/regions/{region}/tiles", name: "region-tiles", access: .anyRole,
            summary: "How many tiles a region has", query: ["zoom", "margin"], answer: .json("RegionTiles"),
            handler: RegionTilesResponder.read),
        Route(
            .post, "/v1/areas", name: "area", access: .anyRole,
            summary: "The tiles of a file with an area",
            query: ["zoom", "margin", "radius", "waypoints", "route", "outline"],
            body: "AreaFile", answer: .json("AreaTiles"), handler: AreaFileResponder.read),
        Route(
            .get, "/v1/packages", name: "packages", access: .published, summary: "Packages of the catalog",
            query: ["at", "q", "group", "language"], answer: .json("Packages"), handler: PackageResponder.packages),
        Route(
            .get, "/v1/packages/{package}", name: "package", access: .published, summary: "A package",
            query: ["from", "edition"], answer: .json("Package"), handler: PackageResponder.package),
        Route(
            .delete, "/v1/packages/{package}", name: "package-withdrawal", access: .operator,
            summary: "Withdraw a package from the catalog", query: ["group", "language"], answer: .json("Ordered"),
            handler: OrderResponder.withdraw),
        Route(
            .post, "/v1/extracts", name: "extract-order", group: .extract, access: .client, rate: .extracts,
            summary: "Order a package of an area", headers: ["Prefer"], body: "Extract",
            answer: .json("ExtractState", also: [202: "The package is being built"]), handler: ExtractResponder.order),
        Route(
            .get, "/v1/extracts/{extract}", name: "extract", group: .extract, access: .client,
            summary: "The state of an extract",
            answer: .json("ExtractState", also: [202: "The package is being built"]), handler: ExtractResponder.state),
        Route(
            .post, "/v1/samples", name: "sample", access: .anyRole,
            summary: "How large an extract will be, from a few tiles that are fetched now", body: "Extract",
            answer: .json("MapSample"), handler: SampleResponder.sample),
        Route(
            .get, "/v1/catalogs", name: "catalogs", access: .viewer,
            summary: "The other catalogs that can be read here", answer: .json("Catalogs"),
            handler: OtherCatalogResponder.names),
        Route(
            .get, "/v1/catalogs/{catalog}/catalog.json", name: "other-catalog", group: .list, access: .viewer,
            summary: "The list of another catalog", answer: .json(nil), handler: OtherCatalogResponder.index),
        Route(
            .get, "/v1/catalogs/{catalog}/tiles/{name}.json", name: "other-tile-json", group: .style, access: .viewer,
            summary: "TileJSON of a package of another catalog", query: ["edition"], answer: .json(nil),
            handler: OtherCatalogResponder.tileJSON),
        Route(
            .get, "/v1/catalogs/{catalog}/tiles/{name}/{z}/{x}/{y}", name: "other-tile", group: .tile, access: .viewer,
            rate: .tiles, summary: "A tile of a package of another catalog", query: ["edition", "format"],
            answer: .media(TileFormat.allCases.map(\.mediaType), also: [204: "The origin has no such tile"]),
            handler: OtherCatalogResponder.tile),
    ]

    static let catalog: [Route] =
        [
            list("/catalog.json", "Everything that a client can install"),
            list("/catalog.json.sig", "The signatures of catalog.json"),
            file("/styles/{version}/{file}", "A style pack, a ZIP archive", query: ["download"]),
        ]
        + ["", "/groups/{group}", "/groups/{group}/{language}", "/{language}"].flatMap { edition in
            [
                list(edition + "/packages.json", "The list of an edition, for CARTO's client"),
                list(edition + "/regions/{file}", "The tile packs of a package"),
                file(edition + "/packages/{version}/{file}", "A file of a package", query: ["download"]),
                file(edition + "/patches/{id}/{file}", "A patch between two versions"),
                file(
                    edition + "/packs/{tileset}/{zoom}/{x}/{y}/{file}", "A tile pack, which regions share"),
            ]
        }

    private static func list(_ path: String, _ summary: String) -> Route {
        Route(
            .get, path, name: "catalog-list", group: .list, access: .published, summary: summary, answer: .json(nil),
            now: CatalogResponder.listNow, handler: CatalogResponder.list)
    }

    private static func file(_ path: String, _ summary: String, query: [String] = []) -> Route {
        Route(
            .get, path, name: "catalog-file", group: .file, access: .published, rate: .files, summary: summary,
            query: query, headers: ["Range", "If-Range"],
            answer: .media(ServedFile.mediaTypes, also: [206: "A part of the file"]), now: CatalogResponder.fileNow,
            handler: CatalogResponder.file)
    }
}
