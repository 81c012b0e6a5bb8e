internal import ClusterClient
internal import HummingbirdCore
internal import Packages
internal import Tiles
internal import Tilesets

/// A map that a client asks for: an area of a tileset to a zoom.
struct ExtractWish: Sendable {
    /// The body of the request.
    private struct Body: Codable {
        let tileset: String
        let area: AreaRequest
        /// The deepest zoom; absent = that of the tileset.
        let maxZoom: Int?
        /// What people call the package, 1 to 100 bytes; absent = it has its id only.
        let name: String?
        /// `mbtiles`, which is always made, and `pmtiles`.
        let formats: [String]?
    }

    let tileset: Tileset
    let mask: TileMask
    let zooms: ZoomRange
    let name: String?
    let formats: [PackageFormat]
    /// How many tiles it has.
    let count: UInt64

    /// The id of its package.
    var id: String { ExtractName.id(of: mask, tileset: tileset.id, formats: formats) }

    /// Reads the body of a request.
    ///
    /// - Throws: ``Problem`` `wrong-request`, `forbidden`, `tileset-away`; `area-too-big` above the limit of this gateway.
    static func read(_ routed: RoutedRequest) async throws(Problem) -> ExtractWish {
        let services = routed.services
        let body = try await JSONBody.read(Body.self, routed.request, most: 4 << 20)
        let tileset = try services.tilesets.find(body.tileset, for: routed.caller)
        let formats = try Self.formats(body.formats ?? [])
        if let name = body.name, !(1...100 ~= name.utf8.count) {
            throw Problem(.wrongRequest, "'name' has 1 to 100 bytes.")
        }
        let zoom = body.maxZoom ?? tileset.zooms.max
        guard tileset.zooms.contains(zoom), let zooms = ZoomRange(min: tileset.zooms.min, max: zoom) else {
            throw Problem(.wrongRequest, "'max_zoom' is one of the zooms \(tileset.zooms) of the tileset.")
        }
        let asked = body.area
        // Hundreds of regions take seconds of a core.
        let mask = try await services.uploads.admit { () async throws(Problem) in
            try await services.uploads.run { [services] () throws(Problem) in
                let areas = try asked.areas { () throws(Problem) in try services.world.tree() }
                guard let area = Area.merged(areas) else { throw Problem(.wrongRequest, "The area is empty.") }
                return area.mask(zoom)
            }
        }
        let count = mask.count(in: zooms)
        guard count <= services.options.extractTiles else {
            services.metrics.extract(.tooBig, seconds: nil)
            throw Problem(
                .areaTooBig, "The area has \(count) tiles; at most \(services.options.extractTiles) are allowed.")
        }
        return ExtractWish(
            tileset: tileset, mask: mask, zooms: zooms, name: body.name, formats: formats, count: count)
    }

    /// Those of the request, with MBTiles.
    private static func formats(_ words: [String]) throws(Problem) -> [PackageFormat] {
        let known: [PackageFormat] = [.mbtiles, .pmtiles]
        guard words.allSatisfy({ word in known.contains { $0.rawValue == word } }) else {
            throw Problem(.wrongRequest, "'formats' of an extract has 'mbtiles' and 'pmtiles' only.")
        }
        return known.filter { $0 == .mbtiles || words.contains($0.rawValue) }
    }
}
