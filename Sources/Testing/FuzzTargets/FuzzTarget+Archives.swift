internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import PMTiles
internal import PackageFiles
internal import Packages
internal import TileBodies
internal import Tiles

/// What other programs write into archives beside the tiles.
extension FuzzTarget {
    /// A vector tile with the layer "a", at 7/72/37 and its parent.
    private static let tileBody = Gzip.compress([0x1A, 0x07, 0x0A, 0x01, 0x61, 0x78, 0x02, 0x28, 0x40])
    private static let tiles = [TileID(zoom: 6, x: 36, y: 18), TileID(zoom: 7, x: 72, y: 37)].compactMap(\.self)

    /// Completes rows of metadata from two tiles: bounds and centre are those of the tiles or near them, layers have ids and
    /// fields, and completing the result changes nothing.
    static func metadata(_ bytes: [UInt8]) -> Verdict {
        let texts = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard texts.count > 1 else { return .refused("no-rows") }
        var rows: [String: String] = [:]
        for number in stride(from: 0, to: texts.count - 1, by: 2) { rows[texts[number]] = texts[number + 1] }
        let format = rows["format"].flatMap(TileFormat.init(word:))
        do {
            let whole = try completed(rows)
            if let wrong = fault(of: whole) { return .wrong(wrong) }
            guard try completed(whole) == whole else { return .wrong("completing twice gives other rows") }
        } catch {
            return .wrong("\(error)")
        }
        return format == nil ? .refused("unknown-format") : .accepted
    }

    private static func completed(_ rows: [String: String]) throws -> [String: String] {
        var metadata = ForeignMetadata(rows, .mvt, name: "x")
        for tile in tiles { try metadata.add(tile, body: tileBody, key: BodyKey(Digest(of: tileBody))) }
        return metadata.rows()
    }

    private static func fault(of rows: [String: String]) -> String? {
        func numbers(_ name: String) -> [Double] {
            (rows[name] ?? "").split(separator: ",").compactMap { Double($0.trimmingCharacters(in: .whitespaces)) }
        }
        let (bounds, center) = (numbers("bounds"), numbers("center"))
        guard bounds.count == 4, bounds[0] <= bounds[2], bounds[1] <= bounds[3] else { return "bounds are no box" }
        guard center.count == 3, bounds[0]...bounds[2] ~= center[0], 6...7 ~= center[2] else {
            return "the centre is outside"
        }
        guard rows["minzoom"] == "6", rows["maxzoom"] == "7" else { return "other zooms than those of the tiles" }
        let json = try? JSONSerialization.jsonObject(with: Data((rows["json"] ?? "").utf8)) as? [String: Any]
        guard let layers = json?["vector_layers"] as? [[String: Any]],
            layers.allSatisfy({ $0["id"] is String && $0["fields"] is [String: Any] })
        else { return "a layer without id or fields" }
        return nil
    }

    /// A plan has one form, and all of its positions have tiles.
    static func plan(_ bytes: [UInt8]) -> Verdict {
        guard let plan = RangePlan(bytes) else { return .refused("bad-plan") }
        guard plan.encoded == bytes else { return .wrong("another plan came back") }
        for end in [1, plan.tiles / 2, plan.tiles] where end > 0 && end <= plan.tiles {
            guard let runs = plan.runs(at: end - 1..<end), runs.count == 1, runs[0].count == 1,
                TileID(hilbertID: runs[0].tile) != nil
            else { return .wrong("position \(end - 1) has no tile") }
        }
        return plan.runs(at: 0..<plan.tiles + 1) == nil ? .accepted : .wrong("more tiles than the plan has")
    }

    /// Reads a file with this metadata, not packed: rows that a package can have, and tiles whatever the metadata are.
    static func pmtilesMetadata(_ bytes: [UInt8]) -> Verdict {
        var header = PMTilesHeader()
        header.internalCompression = PMTilesHeader.Compression.none
        header.tileCompression = PMTilesHeader.Compression.gzip
        header.format = .mvt
        let sample = ArchiveSample(header, metadata: bytes)
        return inArchive(sample.bytes) { archive in
            let metadata = try PMTilesMetadata(reading: archive.file)
            let rows = try archive.facts().rows
            let again = try PMTilesMetadata(rows: rows).text()
            guard try JSONSerialization.jsonObject(with: Data(again)) is [String: Any] else {
                return .wrong("the rows give no JSON object")
            }
            guard try archive.find(tiles[0]).body?.bytes == tileBody else { return .wrong("the tile is not found") }
            return metadata.fault == nil ? .accepted : .refused("bad-metadata")
        }
    }

    /// Reads a file with this header; what the header names is in the file, at other places than it may say.
    static func pmtilesHeader(_ bytes: [UInt8]) -> Verdict {
        let sample = ArchiveSample(PMTilesHeader(), metadata: Array("{}".utf8))
        let head = Array(bytes.prefix(PMTilesHeader.size))
        return inArchive(head + sample.bytes.dropFirst(head.count)) { archive in
            _ = try archive.facts()
            _ = try archive.tileZooms()
            let count = try firstTiles(of: archive).count
            for tile in tiles { _ = try archive.find(tile) }
            var copy = PMTilesHeader()
            copy.setPlace(from: try archive.facts().rows)
            return count > 0 ? .accepted : .refused("no-tiles")
        }
    }

    /// The places of at most a thousand tiles; a few bytes can claim billions.
    private static func firstTiles(of archive: PMTilesArchive) throws -> [UInt64] {
        struct Enough: Error {}
        var places: [UInt64] = []
        do {
            try archive.tiles { _, reference, _ in
                places.append(reference)
                if places.count >= 1_000 { throw Enough() }
            }
        } catch is Enough {
            return places
        }
        return places
    }

    private static func inArchive(_ bytes: [UInt8], _ read: (PMTilesArchive) throws -> Verdict) -> Verdict {
        let file = scratch("pmtiles")
        defer { unlink(file.path) }
        do { try Data(bytes).write(to: file) } catch { return .refused("scratch") }
        do { return try read(try PMTilesArchive(path: file.path, ArchiveAccess())) } catch let error as ArchiveError {
            return .refused("\(error.code)")
        } catch {
            return .wrong("\(error)")
        }
    }

    /// A file with the two tiles, one body and one directory, and a gap for the metadata.
    private struct ArchiveSample {
        let bytes: [UInt8]

        init(_ header: PMTilesHeader, metadata: [UInt8]) {
            var header = header
            let entries = FuzzTarget.tiles.map { tile in
                PMTilesDirectory.Entry(
                    tile: tile.hilbertID, run: 1, length: UInt64(FuzzTarget.tileBody.count), offset: 0)
            }
            let root = PMTilesDirectory(entries: entries).encoded
            header.root = .init(offset: UInt64(PMTilesHeader.size), length: UInt64(root.count))
            header.tiles = .init(offset: header.root.end, length: UInt64(FuzzTarget.tileBody.count))
            header.metadata = .init(offset: header.tiles.end, length: UInt64(metadata.count))
            header.leaves = .init(offset: header.metadata.end, length: 0)
            bytes = header.encoded + root + FuzzTarget.tileBody + metadata
        }
    }
}
