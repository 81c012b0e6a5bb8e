internal import Foundation
public import Tiles

/// The installed tiles of one tileset, from all its packages and packs.
public struct InstalledTileset: Hashable, Sendable {
    /// The name, as in ``TileReader`` and in the addresses of a style `.served(at:)`.
    public var id: String
    /// The zooms of its tiles.
    public var zooms: ZoomRange
    /// Its tiles.
    public var mask: TileMask
    /// The box round its deepest tiles.
    public var bounds: BoundingBox
    /// The names of the sources that a map must show, without repetition.
    public var attributions: [String]
}

extension ResourceResolver {
    /// The tilesets that are installed, by name.
    public var tilesets: [InstalledTileset] {
        Dictionary(grouping: snapshot.maps) { $0.tileset ?? $0.item.identifier }.sorted { $0.key < $1.key }.compactMap {
            id, units in
            // Catalogs of others may not say zooms: then those of the mask count.
            let zooms = units.compactMap { unit in
                unit.zooms ?? unit.mask.flatMap { ZoomRange(min: 0, max: $0.maxZoom) }
            }
            guard let least = zooms.map(\.min).min(), let most = zooms.map(\.max).max(),
                let range = ZoomRange(min: least, max: most), let mask = TileMask(union: units.compactMap(\.mask)),
                let bounds = mask.bounds
            else { return nil }
            return InstalledTileset(
                id: id, zooms: range, mask: mask, bounds: bounds,
                attributions: Set(units.compactMap(\.attribution)).sorted())
        }
    }
}
