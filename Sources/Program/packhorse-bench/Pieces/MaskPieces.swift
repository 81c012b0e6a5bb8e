import Regions
import TileBodies
import Tiles

/// Measurements of cover and mask codec.
struct MaskPieces {
    /// Countries with long coasts, many islands and many neighbours.
    ///
    /// Only the first one in a short run.
    private static let countries = ["EE", "DE", "FR", "NO", "JP", "BR", "PH", "HR"]
    private static let zoom = 14

    private let shapes: [MercatorShape]
    private let masks: [TileMask]

    init(tree: RegionTree, isSmall: Bool) {
        shapes = Self.countries.prefix(isSmall ? 1 : Self.countries.count).map(tree.shape(of:))
        masks = shapes.map { TileMask(covering: $0, maxZoom: Self.zoom) }
    }

    func pieces() -> [Piece] {
        let border = shapes.reduce(0) { $0 + OutlineWalk.tiles($1, zoom: Self.zoom) }
        let encoded = masks.map { $0.encoded() }
        let megabytes = Double(encoded.reduce(0) { $0 + $1.count }) / 1e6
        let packed = encoded.map(Gzip.compress)
        return [
            Piece(
                name: "cover", amount: Double(border) / 1e3, unit: "k border tiles/s", baseline: "walk of the outline",
                threshold: 0.12,
                run: { for shape in shapes { _ = TileMask(covering: shape, maxZoom: Self.zoom) } },
                runBaseline: { for shape in shapes { _ = OutlineWalk.tiles(shape, zoom: Self.zoom) } }),
            Piece(
                name: "mask encode", amount: megabytes, unit: "MB/s", baseline: "gzip of the same bytes",
                threshold: 0.2,
                run: { for mask in masks { _ = mask.encoded() } },
                runBaseline: { for bytes in encoded { _ = Gzip.compress(bytes) } }),
            Piece(
                name: "mask decode", amount: megabytes, unit: "MB/s", baseline: "gunzip of the same bytes",
                threshold: 0.03,
                run: { for bytes in encoded { _ = try TileMask(decoding: bytes) } },
                runBaseline: { for bytes in packed { _ = try Gzip.decompress(bytes) } }),
        ]
    }
}
