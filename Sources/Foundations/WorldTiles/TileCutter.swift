public import Regions
public import Tiles

/// Cuts vector tiles out of a region tree: the demo world without its server.
///
/// A tile is a function of the tree, the tile and the language. Layers:
/// - `countries`, polygons with `id`, `iso`, `name`, and `name_xx` in eight languages;
/// - `regions`, the same from zoom 4 for the countries that have them, with `country`;
/// - `labels`, points with names, `kind` and `rank`, countries first, regions from zoom 4;
/// - `grid`, meridians and parallels at round degrees over land.
///
/// Extent 4096, 64 units of margin round polygons and lines. Safe to share between threads; what it keeps is bounded
/// (``LandCells``), some 40 MB in all with the boundaries.
public final class TileCutter: Sendable {
    /// The default language of `name`.
    public static let defaultLanguage = "en"
    /// The first zoom with regions.
    static let firstRegionZoom = 4

    private let cells: LandCells

    /// Decodes the boundaries of all countries and regions.
    public init(tree: RegionTree) { cells = LandCells(tree) }

    /// The unpacked vector tile, or `nil` where there is neither land nor label.
    ///
    /// - Parameter language: One of ``Regions/RegionTree/languages`` for the field `name`; another gives English names.
    /// - Parameter padding: Unit: bytes. More than 0 adds a layer `padding` with a point whose text makes the packed tile
    ///   about this much larger; for load tests.
    public func cut(_ tile: TileID, language: String = defaultLanguage, padding: Int = 0) -> [UInt8]? {
        let cell = cells.cell(for: tile)
        let clip = ClipBox(around: tile)
        let grid = PixelGrid(tile)
        var countries = LayerWriter("countries")
        var regions = LayerWriter("regions")
        var labels = LayerWriter("labels")
        var lines = LayerWriter("grid")
        for piece in cell.pieces {
            let part = cells.parts[piece.part]
            let isCountry = part.region.kind == .country
            guard isCountry || tile.zoom >= Self.firstRegionZoom else { continue }
            // An island of less than half a screen pixel (16 units squared, doubled) is not drawn at low zooms.
            let rings = RingOrder.sorted(
                piece.rings.compactMap { ring in
                    ring.clipped(to: clip).flatMap { PixelRing($0, grid, smallest: tile.zoom < 6 ? 128 : 2) }
                })
            guard !rings.isEmpty else { continue }
            if isCountry {
                countries.polygon(id: piece.part + 1, Self.fields(part, language), rings)
            } else {
                regions.polygon(id: piece.part + 1, Self.fields(part, language), rings)
            }
        }
        for index in cell.labels {
            let part = cells.parts[index]
            guard tile.zoom >= part.labelZoom, ClipBox.holds(tile, part.label) else { continue }
            let more: [(String, FieldValue)] = [
                ("kind", .text(part.region.kind.rawValue)), ("rank", .integer(part.rank)),
            ]
            labels.point(id: index + 1, more + Self.fields(part, language), grid.pixel(part.label))
        }
        if !countries.isEmpty { Graticule.draw(tile, into: &lines) }
        var writer = ProtoWriter()
        for layer in [countries, regions, labels, lines] where !layer.isEmpty { layer.write(to: &writer) }
        guard !writer.bytes.isEmpty else { return nil }
        if padding > 0 { Padding.layer(for: tile, bytes: padding).write(to: &writer) }
        return writer.bytes
    }

    private static func fields(_ part: LandPart, _ language: String) -> [(String, FieldValue)] {
        let region = part.region
        var fields: [(String, FieldValue)] = [("id", .text(region.id))]
        if region.kind == .country {
            fields.append(("iso", .text(region.id)))
        } else {
            fields.append(("country", .text(region.parentID ?? "")))
        }
        fields.append(("name", .text(region.name(language))))
        for language in RegionTree.languages { fields.append(("name_\(language)", .text(region.name(language)))) }
        return fields
    }
}
