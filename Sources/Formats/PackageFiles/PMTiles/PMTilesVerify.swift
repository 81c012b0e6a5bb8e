public import Digests
internal import Errors
internal import Files
public import Foundation
package import PMTiles
internal import TileBodies
public import Tiles

/// Reads a PMTiles file of version 3 completely and reports all problems.
public enum PMTilesVerify {
    /// Verifies header, directories, counts, order, metadata, seal, mask, hash and every different body.
    ///
    /// Never changes the file. Memory: about 50 MB, and 24 bytes for each of the first million different bodies. More than a
    /// million tiles are sorted in a file without a name in the temporary folder. Blocks for a long time.
    ///
    /// - Parameters: As for ``PackageVerify/run(_:mask:zooms:expecting:)``.
    /// - Throws: `PackagesError` `io` when the file cannot be read at all; everything else is a problem in the report.
    public static func run(
        _ url: URL, mask: TileMask?, zooms: ZoomRange? = nil, expecting: Digest? = nil,
        passedOver: ((TileID) -> Void)? = nil
    ) throws -> VerifyReport {
        var report = VerifyReport(path: url.path, size: try size(of: url), kind: "PMTiles")
        report.dialect = PMTilesHeader.words(try version(of: url))
        if let expecting {
            let found = try Digest.ofFile(url).digest
            if found != expecting {
                report.add("digest-mismatch", at: "file", because: "SHA-256 is \(found), expected \(expecting)")
            }
        }
        let file: PMTilesFile
        do throws(ArchiveError) {
            file = try PMTilesFile(path: url.path)
        } catch {
            if error.code == .unreadable { throw PackagesError(error) }
            report.add(error.code.description, at: "file", because: error.message)
            return report
        }
        checkSections(file.header, &report)
        let metadata: PMTilesMetadata
        do throws(ArchiveError) { metadata = try PMTilesMetadata(reading: file) } catch { throw PackagesError(error) }
        if let fault = metadata.fault { report.add("bad-metadata", at: "metadata", because: fault) }
        try PMTilesSeal.check(url, isPromised: metadata.promisesSeal, &report)
        let archive = PMTilesArchive(file, path: url.path)
        if file.header.format == nil {
            let words = archive.format.map { "its bodies are \($0.rawValue)" } ?? "its bodies cannot be checked"
            report.add(
                "unknown-format", at: "header",
                because:
                    "tile type \(file.header.tileType) is not one of the known formats (\(TileFormat.knownWords)); \(words)"
            )
        }
        var rows = MetadataCheck(
            metadata.rows(file.header, file.header.format ?? archive.format), requiresName: false, &report)
        rows.take(archive.format, &report)
        do {
            let check = TileCheck(rows, mask: mask, zooms: zooms, passedOver: passedOver)
            try checkTiles(of: file, with: check, into: &report)
        } catch let error as ArchiveError {
            if error.code == .unreadable { throw PackagesError(error) }
            report.add(error.code.description, at: "directories", because: error.message)
        } catch let error as PackagesError where error.code == .badSource {
            report.add("bad-archive", at: "directories", because: error.message)
        }
        return report
    }

    /// Looks at each body once, and takes the hash in the order of rows.
    private static func checkTiles(of file: PMTilesFile, with check: TileCheck, into report: inout VerifyReport) throws
    {
        var check = check
        var walk = PMTilesWalk(file, check)
        let sorter = TileSorter(
            near: TemporaryName.forUse(as: "verify"))
        try walk.run(&report) { tile, entry, report in
            try sorter.add(TileRecord(order: tile.rowOrder, reference: entry.offset, length: entry.length))
            guard tile.hilbertID == entry.tile else { return }
            let isUsable: Bool
            do throws(ArchiveError) {
                let body = try file.body(at: entry.offset, length: entry.length)
                isUsable = check.check(body, of: tile, coding: file.coding, tiles: entry.run, &report)
            } catch {
                guard error.code == .badTile else { throw error }
                report.addUnusable("too-large", at: "\(tile)", because: error.message, tiles: entry.run)
                isUsable = false
            }
            if !isUsable { check.passOver(entry.tile..<entry.tile + entry.run) }
        }
        var hash = TilesHash()
        // The walk has refused directories that name a tile twice.
        func add(_ record: TileRecord) throws {
            guard let tile = TileID(rowOrder: record.order) else { return }
            let body: [UInt8]
            do throws(ArchiveError) { body = try file.body(at: record.reference, length: record.length) } catch {
                // A body that is too long was named before.
                guard error.code == .badTile else { throw error }
                return
            }
            hash.add(zoom: tile.zoom, column: tile.x, row: tile.tmsY, body: body)
        }
        try sorter.walk(choose: { known, _ in known }, add)
        report.tilesHash = hash.finish()
        check.finish(inMask: walk.inMask, &report)
    }

    private static func version(of url: URL) throws -> Int {
        do throws(StorageError) {
            let file = try FileDescriptor(reading: url)
            return PMTilesHeader.version(try file.read(at: 0, count: Int(min(16, file.size)))) ?? 3
        } catch {
            throw PackagesError(.io, error.message, cause: error)
        }
    }

    private static func size(of url: URL) throws -> UInt64 {
        do throws(StorageError) {
            return try FileDescriptor(reading: url).size
        } catch {
            throw PackagesError(.io, error.message, cause: error)
        }
    }

    package static func checkSections(_ header: PMTilesHeader, _ report: inout VerifyReport) {
        if header.hasUnknownLength {
            report.add(
                "bad-header", at: "header",
                because:
                    "the length of the tile data is no length (tilemaker up to 3.0); it is taken to end with the file")
        }
        if header.root.end > PMTilesHeader.rootEnd {
            report.add(
                "bad-header", at: "header",
                because:
                    "the root directory ends at byte \(header.root.end); readers fetch the first \(PMTilesHeader.rootEnd)"
            )
        }
        let sections = [
            ("header", .init(offset: 0, length: UInt64(PMTilesHeader.size))), ("root directory", header.root),
            ("metadata", header.metadata), ("leaf directories", header.leaves), ("tile data", header.tiles),
        ].filter { $0.1.length > 0 }.sorted { $0.1.offset < $1.1.offset }
        for (before, after) in zip(sections, sections.dropFirst()) where before.1.end > after.1.offset {
            report.add(
                "bad-header", at: "header", because: "\(before.0) and \(after.0) overlap at byte \(after.1.offset)")
        }
        for (name, code) in [("directories", header.internalCompression), ("tiles", header.tileCompression)]
        where !(0...4).contains(code) {
            report.add(
                "unsupported", at: "header",
                because: "\(name) are packed with code \(code); none, gzip, brotli and zstd are read")
        }
    }
}
