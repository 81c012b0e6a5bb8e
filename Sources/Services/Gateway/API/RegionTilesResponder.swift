internal import ClusterClient
internal import Errors
internal import HummingbirdCore
internal import Tiles
internal import WebRequests

/// Answers a region with its tiles: how many there are at each zoom, and a coarse mask to draw, before a map of it is built.
enum RegionTilesResponder {
    private struct View: Encodable, Sendable {
        let id: String
        /// West, south, east, north in degrees; west > east across the antimeridian.
        let bounds: [Double]
        /// Tiles at zoom 0, 1, 2 … up to the deepest zoom that was asked for.
        let counts: [UInt64]
        /// CARTO's text of the tiles, at most of ``maskZoom``.
        let mask: String
    }

    /// The deepest zoom of the mask in an answer: finer than what a map of a country can show.
    private static let maskZoom = 10

    static func read(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let zoom = try routed.number("zoom", 0...14) ?? 14
        let margin = try routed.path.parameter("margin").map { (text) throws(Problem) in
            do throws(TilesError) { return try Margin(parsing: text) } catch {
                throw Problem(.badParameter, error.message)
            }
        }
        let (region, tree) = try RegionResponder.find(routed)
        let uploads = routed.services.uploads
        return try await uploads.admit { () async throws(Problem) in
            APIResponder.json(
                try await uploads.run { () throws(Problem) in
                    let area = Area.region(region, in: tree)
                    return try view(margin.map { area.widened(by: $0) } ?? area, zoom)
                })
        }
    }

    private static func view(_ area: Area, _ zoom: Int) throws(Problem) -> View {
        let mask = area.mask(zoom)
        var coarse = mask.clipped(toZoom: min(zoom, maskZoom))
        while coarse.maxZoom > 0, coarse.cartoWire.utf8.count > AreaRequest.maxMask {
            coarse = coarse.clipped(toZoom: coarse.maxZoom - 1)
        }
        let box = area.bounds
        return View(
            id: area.id, bounds: [box.west, box.south, box.east, box.north],
            counts: (0...zoom).map { mask.count(atZoom: $0) }, mask: coarse.cartoWire)
    }
}
