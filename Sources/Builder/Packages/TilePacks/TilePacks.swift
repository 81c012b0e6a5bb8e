public import CatalogFormat
internal import Digests
internal import Files
public import Foundation
internal import PackageFiles
public import Tiles

/// Cuts packages into tile packs, which clients share between regions.
public enum TilePacks {
    /// What to cut.
    public struct Order: Sendable {
        /// An MBTiles file of any dialect that has an index on its tiles.
        public var package: URL
        /// The region's or package's id; names the list.
        public var id: String
        /// The tileset's id, a folder of the packs: 1 to 120 letters, digits and `. _ -`.
        public var tileset: String
        /// The tiles that the package was built for; a pack that reaches beyond them is partial.
        public var mask: TileMask?
        /// Whether the source answered every tile of ``mask`` that the package lacks with "there is no tile".
        ///
        /// `false` when tiles failed or when it is not known: then a pack that lacks a tile is partial.
        public var lacksOnlyEmptyTiles = false
        /// How tiles are grouped.
        public var scheme = PackScheme.standard
        /// `mbtiles` or `pmtiles`.
        public var format = PackageFormat.mbtiles

        /// Makes an order from what every package has; the rest is set afterwards.
        public init(package: URL, id: String, tileset: String) {
            self.package = package
            self.id = id
            self.tileset = tileset
        }

        /// Whether a pack is complete, so that every region with the complete pack has the same file.
        ///
        /// - Parameter tiles: How many tiles of the pack the package has.
        func isComplete(_ pack: PackScheme.Pack, tiles: UInt64) -> Bool {
            if let mask, !pack.isComplete(in: mask) { return false }
            return tiles == pack.size || mask != nil && lacksOnlyEmptyTiles
        }
    }

    /// Writes the packs that are not there yet, then the list `regions/<id>.json`.
    ///
    /// Works as ``packs(_:into:progress:)``, and writes the list.
    /// - Returns: The list that was written.
    /// - Throws: ``PackagesError`` `bad-spec`, `bad-source`, `unsupported`, `disk-full`, `io`; the list is then
    ///   unchanged.
    @discardableResult
    public static func cut(
        _ order: Order, into folder: URL, progress: (_ done: Int, _ of: Int) throws -> Void = { _, _ in }
    ) throws -> TilePackList {
        let list = try packs(order, into: folder, progress: progress)
        do {
            let target = folder.appendingPathComponent(TilePackList.path(order.id))
            try Durable.makeFolder(target.deletingLastPathComponent())
            try Durable.write(try list.encoded(), to: target)
            return list
        } catch {
            throw PackagesError.wrapping(error, path: folder.path)
        }
    }

    /// Writes the packs that are not there yet, and no list.
    ///
    /// A pack lies at `packs/<tileset>/<index zoom>/<x>/<y>/<first 16 digits of its SHA-256>.mbtiles`: its address
    /// changes when and only when its bytes do, and regions that hold the same tiles have the same address. Nothing is
    /// removed. A pack without tiles is not written. Memory: about 30 MB and eight bytes a pack. Blocks for a long
    /// time: call it on a thread of its own.
    ///
    /// - Parameters:
    ///   - order: What to cut.
    ///   - folder: The folder of `packs` and `regions`.
    ///   - progress: Called with the number of finished packs and of all packs. Throw from it (`CancellationError`) to
    ///     stop.
    /// - Returns: The list for `regions/<id>.json`.
    /// - Throws: ``PackagesError`` `bad-spec`, `bad-source`, `unsupported`, `disk-full`, `io`.
    public static func packs(
        _ order: Order, into folder: URL, progress: (_ done: Int, _ of: Int) throws -> Void = { _, _ in }
    ) throws -> TilePackList {
        try check(order)
        do {
            let digest = try Digest.ofFile(order.package).digest
            return try PackageFile.read(order.package) { package in
                try package.checkIndex()
                let metadata = try package.metadata()
                guard metadata[PatchSchema.before] == nil else {
                    throw PackagesError(PatchSchema.refusal(order.package.path))
                }
                let packs = try present(in: package, metadata: metadata, scheme: order.scheme)
                var listed: [TilePackList.Pack] = []
                for (done, pack) in packs.enumerated() {
                    try progress(done, packs.count)
                    let file = PackFile(pack: pack, tileset: order.tileset, source: metadata)
                    listed.append(try place(file, of: package, order: order, in: folder))
                }
                try progress(packs.count, packs.count)
                return TilePackList(order, package: digest, packs: listed)
            }
        } catch {
            throw PackagesError.wrapping(error, path: folder.path)
        }
    }

    /// Whether a text can be the tileset's id of packs: a folder's name, 1 to 120 letters, digits and `. _ - ( ) ,`.
    public static func isName(_ text: String) -> Bool {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-(),")
        return 1...120 ~= text.utf8.count && text.allSatisfy(allowed.contains) && !text.hasPrefix(".")
    }

    private static func check(_ order: Order) throws {
        for (what, name) in [("tileset", order.tileset), ("package id", order.id)] {
            guard isName(name) else {
                throw PackagesError(
                    .badSpec,
                    "'\(name.prefix(130))' cannot be a \(what) of tile packs: use 1 to 120 letters, digits and . _ - ( ) ,"
                )
            }
        }
        guard [.mbtiles, .pmtiles].contains(order.format) else {
            throw PackagesError(.unsupported, "Tile packs are written as mbtiles or pmtiles, not as \(order.format).")
        }
    }

    /// The packs that the package has a tile of, band by band, along the Hilbert curve.
    private static func present(
        in package: PackageFile, metadata: [String: String], scheme: PackScheme
    ) throws -> [PackScheme.Pack] {
        var found = [Set<TileID>](repeating: [], count: scheme.bands.count)
        // Uses the zooms that were built, not those that have tiles: the zooms of a pack must not depend on the rest of
        // the region.
        var (low, high) = (TileID.maxZoom, 0)
        if let min = metadata["minzoom"].flatMap({ Int($0) }), let max = metadata["maxzoom"].flatMap({ Int($0) }),
            let built = ZoomRange(min: min, max: max)
        {
            (low, high) = (built.min, built.max)
        }
        try package.places { tile in
            guard let band = scheme.bands.firstIndex(where: { $0.zooms.contains(tile.zoom) }),
                let index = tile.ancestor(atZoom: scheme.bands[band].indexZoom)
            else {
                throw PackagesError(
                    .badSpec,
                    "'\(package.path)' has tiles at zoom \(tile.zoom), which is in none of the bands \(scheme), so they would be in no pack. Give bands for all of its zooms."
                )
            }
            found[band].insert(index)
            (low, high) = (min(low, tile.zoom), max(high, tile.zoom))
        }
        return zip(scheme.bands, found).flatMap { band, indices in
            ZoomRange(min: low, max: high)?.intersection(band.zooms).map { span in
                indices.sorted().map { PackScheme.Pack(index: $0, zooms: span) }
            } ?? []
        }
    }

    private static func place(
        _ file: PackFile, of package: PackageFile, order: Order, in folder: URL
    ) throws -> TilePackList.Pack {
        let pack = file.pack
        let inside = "packs/\(order.tileset)/\(pack.index)"
        let home = folder.appendingPathComponent(inside)
        try Durable.makeFolder(home)
        let temporary = TemporaryName.nextTo(home.appendingPathComponent("pack"))
        let export = temporary.appendingPathExtension("pmtiles")
        defer { for leftover in [temporary, export] { unlink(leftover.path) } }
        let tiles = try file.write(package, to: temporary)
        var finished = temporary
        if order.format == .pmtiles {
            try TileArchives.open(temporary) { archive, facts in
                let feed = try TileFeed(
                    archive, facts: facts, format: try archive.knownFormat(facts, temporary),
                    near: export.appendingPathExtension("sort"), name: "\(pack.index)"
                ) {}
                _ = try PMTilesExport.write(feed, to: export, isCompact: true) { _ in }
            }
            finished = export
        }
        let (digest, size) = try Digest.ofFile(finished)
        let name = digest.hex.prefix(16) + order.format.fileExtension
        let target = home.appendingPathComponent(String(name))
        let held = FileManager.default.fileExists(atPath: target.path) ? try Digest.ofFile(target).digest : nil
        if held != digest { try Durable.rename(finished, to: target) }
        return TilePackList.Pack(
            index: pack.index, zooms: pack.zooms, tiles: tiles, size: size, sha256: digest.hex,
            path: "\(inside)/\(name)", isComplete: order.isComplete(pack, tiles: tiles))
    }
}
