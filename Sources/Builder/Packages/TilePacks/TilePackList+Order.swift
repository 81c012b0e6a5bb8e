public import CatalogFormat
public import Digests
internal import Tiles

extension TilePackList {
    /// The list of the packs that an order gave.
    init(_ order: TilePacks.Order, package: Digest, packs: [Pack]) {
        self.init(
            id: order.id, tileset: order.tileset, bands: order.scheme.description, format: order.format.rawValue,
            package: package.hex, packs: packs)
    }

    /// Whether the list answers an order; the files of the packs may have been removed since and are not checked.
    ///
    /// - Parameter digest: SHA-256 of the order's package.
    public func answers(_ order: TilePacks.Order, of digest: Digest) -> Bool {
        id == order.id && tileset == order.tileset && bands == order.scheme.description
            && format == order.format.rawValue && package == digest.hex
            && packs.allSatisfy { pack in
                let place = PackScheme.Pack(index: pack.index, zooms: pack.zooms)
                return pack.isComplete == order.isComplete(place, tiles: pack.tiles)
            }
    }
}
