public import Catalog
import CatalogFormat
import Digests
import Foundation
import PackageFiles
import Packages

/// The tile packs of packages that are being published.
public enum CatalogPacks {
    /// Cuts a package into tile packs if its options ask for them, unless the catalog has them.
    public static let maker: PackMaker = { request, home in
        guard let scheme = request.options.packs else { return nil }
        var wanted = TilePacks.Order(package: request.file, id: request.id, tileset: request.tileset)
        wanted.mask = request.mask
        wanted.lacksOnlyEmptyTiles = request.failedTiles == 0
        wanted.scheme = scheme
        let list = try held(wanted, digest: request.digest, home: home) ?? TilePacks.packs(wanted, into: home)
        return PublishedPacks(
            list: try list.encoded(), files: list.packs.map { PublishedPacks.Pack(path: $0.path, size: $0.size) })
    }

    /// The packs that the catalog lists for exactly these bytes, if all of their files exist.
    private static func held(_ wanted: TilePacks.Order, digest: Digest, home: URL) -> TilePackList? {
        // A list that cannot be read is made again.
        guard let bytes = try? Data(contentsOf: home.appending(path: TilePackList.path(wanted.id))),
            // A list that cannot be decoded is made again.
            let list = try? TilePackList(decoding: Array(bytes), named: wanted.id), list.answers(wanted, of: digest)
        else { return nil }
        let isThere = list.packs.allSatisfy { pack in
            // A pack that cannot be read is made again.
            let attributes = try? FileManager.default.attributesOfItem(atPath: home.appending(path: pack.path).path)
            return (attributes?[.size] as? NSNumber)?.uint64Value == pack.size
        }
        return isThere ? list : nil
    }
}
