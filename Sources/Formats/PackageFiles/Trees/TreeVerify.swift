package import Digests
internal import Errors
internal import Files
package import Foundation
internal import TileBodies
package import Tiles

/// Reads a folder or a ZIP archive of tiles completely and reports all problems.
package enum TreeVerify {
    /// Verifies names, checksums, seal, metadata, mask, hash and every different body.
    ///
    /// Never changes anything. Memory: as for ``PMTilesVerify``. Blocks for a long time.
    ///
    /// - Parameters: As for ``PackageVerify/run(_:mask:zooms:expecting:)``.
    /// - Throws: `PackagesError` `io` when it cannot be read at all; everything else is a problem in the report.
    package static func run(
        _ url: URL, mask: TileMask?, zooms: ZoomRange? = nil, expecting: Digest? = nil
    ) throws -> VerifyReport {
        do {
            let tree: any TileTree
            if TileFolder.isThere(url) { tree = TileFolder(url) } else { tree = try TileZip(url) }
            return try report(tree, url, mask: mask, zooms: zooms, expecting: expecting)
        } catch let error as ArchiveError where error.code != .unreadable {
            var report = VerifyReport(path: url.path, size: (try? url.fileSize()) ?? 0, kind: "ZIP")
            report.add(error.code.description, at: "file", because: error.message)
            return report
        } catch let error as ArchiveError { throw PackagesError(error) } catch let error as StorageError {
            throw PackagesError(.io, error.message, cause: error)
        }
    }

    private static func report(
        _ tree: any TileTree, _ url: URL, mask: TileMask?, zooms: ZoomRange?, expecting: Digest?
    ) throws -> VerifyReport {
        let listing = try TreeListing(tree)
        var report = VerifyReport(path: url.path, size: tree.size, kind: tree.kind)
        report.dialect = "z/x/y"
        for problem in listing.problems { report.add(problem.code, at: problem.place, because: problem.message) }
        if let expecting {
            let found = try tree.digest()
            if found != expecting {
                report.add("digest-mismatch", at: "file", because: "SHA-256 is \(found), expected \(expecting)")
            }
        }
        guard let text = try listing.text(of: tree, &report) else { return report }
        guard let metadata = TreeMetadata(text) else {
            report.add("bad-tiles-json", at: TreePath.metadata, because: "it is not one JSON object")
            return report
        }
        var rows = metadata.rows
        rows["format"] = rows["format"] ?? listing.ending
        let check = MetadataCheck(rows, requiresName: false, &report)
        let seal = try readTiles(
            of: tree, listing, with: TileCheck(check, mask: mask, zooms: zooms), format: check.format, into: &report)
        guard metadata.promisesSeal else { return report }
        report.seal = .broken
        guard let seal, seal.sealed(text) == text, tree.isExact else {
            report.add(
                "seal-broken", at: TreePath.metadata,
                because: "the tiles, or bytes beside them, are not those that it seals")
            return report
        }
        report.seal = .valid
        return report
    }

    /// Looks at each tile.
    ///
    /// - Returns: The seal of the tiles; `nil` when one cannot be read.
    private static func readTiles(
        of tree: any TileTree, _ listing: TreeListing, with check: TileCheck, format: TileFormat?,
        into report: inout VerifyReport
    ) throws -> TreeSeal? {
        var (check, seal, isWhole) = (check, TreeSeal(), true)
        var (inMask, counts): (UInt64, [Int: UInt64]) = (0, [:])
        let rows = TileSorter(near: TemporaryName.forUse(as: "verify"))
        try listing.walk(&report) { record, tile, report in
            report.tiles += 1
            counts[tile.zoom, default: 0] += 1
            if check.isWelcome(tile, &report) { inMask += 1 }
            do throws(ArchiveError) {
                let body = try tree.bytes(of: listing.file(record, tile))
                seal.add(listing.name(tile), body)
                // Unpacked, a vector tile without layers has no bytes.
                guard !body.isEmpty || format?.traits.isVector != true else { return }
                _ = check.check(body, of: tile, coding: .identity, &report)
            } catch {
                if error.code == .unreadable { throw error }
                isWhole = false
                report.addUnusable(error.code.description, at: "\(tile)", because: error.message)
            }
            try rows.add(TileRecord(order: tile.rowOrder, reference: record.reference, length: record.length))
        }
        var hash = TilesHash()
        if isWhole {
            func add(_ record: TileRecord) throws {
                guard let tile = TileID(rowOrder: record.order) else { return }
                let body = try tree.bytes(of: listing.file(record, tile))
                hash.add(zoom: tile.zoom, column: tile.x, row: tile.tmsY, body: body)
            }
            try rows.walk(choose: { known, _ in known }, add)
        }
        report.tilesHash = hash.finish()
        report.tilesPerZoom = counts.sorted { $0.key < $1.key }.map { .init(zoom: $0.key, tiles: $0.value) }
        check.finish(inMask: inMask, &report)
        return isWhole ? seal : nil
    }
}
