internal import Digests
internal import Errors
internal import Files
internal import Foundation
package import GRDB
package import TileBodies
package import Tiles

/// Checks places of tiles, and each different body once; walks the tiles of an MBTiles file.
package struct TileCheck {
    private let metadata: MetadataCheck
    private let mask: TileMask?
    private let zooms: ZoomRange?
    private let dialect: MBTilesDialect
    private let checker = BodyChecker(takesAnyPicture: true)
    /// Bodies that were already checked, by half of their SHA-256.
    ///
    /// A million take 24 MB; beyond that a body may be checked twice.
    private var seen: Set<UInt64> = []
    private static let seenLimit = 1_000_000
    private var pictures = PictureCounts()
    /// Called with every tile that every reader passes over.
    private let passedOver: ((TileID) -> Void)?

    package init(
        _ metadata: MetadataCheck, mask: TileMask?, zooms: ZoomRange?, dialect: MBTilesDialect = MBTilesDialect(),
        passedOver: ((TileID) -> Void)? = nil
    ) {
        self.passedOver = passedOver
        self.dialect = dialect
        self.metadata = metadata
        self.mask = mask
        self.zooms = zooms
    }

    /// The rows of an MBTiles file.
    package static let rows = """
        SELECT zoom_level, tile_column, tile_row,
        CASE typeof(tile_data) WHEN 'text' THEN CAST(tile_data AS BLOB) ELSE tile_data END FROM tiles
        ORDER BY zoom_level, tile_column, tile_row
        """

    /// Walks the tiles of a database.
    ///
    /// - Parameter sql: Zoom, column, row from the south and body of every tile, in this order.
    package func run(_ database: Database, _ report: inout VerifyReport, sql: String = Self.rows) throws {
        var copy = self
        try copy.walk(database, &report, sql: sql)
    }

    /// The rows of one tile that were read so far.
    private struct Place {
        let tile: TileID
        /// The first body that is a tile; `nil` until one is found.
        var body: [UInt8]?
    }

    private mutating func walk(_ database: Database, _ report: inout VerifyReport, sql: String) throws {
        var hash = TilesHash()
        var counts: [Int: UInt64] = [:]
        var inMask: UInt64 = 0
        var last: Place?
        let rows = try Row.fetchCursor(database, sql: sql)
        while let row = try rows.next() {
            report.tiles += 1
            let place: (DatabaseValue, DatabaseValue, DatabaseValue) = (row[0], row[1], row[2])
            let value: DatabaseValue = row[3]
            guard
                case (.int64(let zoom), .int64(let column), .int64(let tmsRow)) =
                    (place.0.storage, place.1.storage, place.2.storage)
            else {
                report.addUnusable("bad-tile", at: "tile \(report.tiles)", because: TilePlace.noNumbers)
                continue
            }
            let body: [UInt8]
            switch value.storage {
            case .blob(let data): body = [UInt8](data)
            default: body = []
            }
            hash.add(zoom: Int(zoom), column: Int(column), row: Int(tmsRow), body: body)
            guard let tile = tile(zoom: zoom, column: column, row: tmsRow) else {
                report.addUnusable(
                    "bad-tile", at: "\(zoom)/\(column)/(row \(tmsRow))",
                    because: TilePlace.fault(zoom: zoom, column: column, row: tmsRow))
                continue
            }
            if last?.tile != tile {
                passOver(last)
                last = nil
            }
            counts[tile.zoom, default: 0] += 1
            // A patch deletes tiles of the old version, which the metadata of the new version does not describe.
            if metadata.isPatch, value.isNull { continue }
            if isWelcome(tile, &report) { inMask += 1 }
            let isUsable = checkStored(body, of: tile, &report)
            if let known = last { compare(known, with: body, isUsable: isUsable, &report) }
            last = Place(tile: tile, body: last?.body ?? (isUsable ? body : nil))
        }
        passOver(last)
        report.tilesHash = hash.finish()
        report.tilesPerZoom = counts.sorted { $0.key < $1.key }.map { .init(zoom: $0.key, tiles: $0.value) }
        finish(inMask: inMask, &report)
    }

    /// Names a tile of which no row has a body that is a tile.
    private func passOver(_ place: Place?) {
        if let place, place.body == nil { passedOver?(place.tile) }
    }

    /// Names tiles along the Hilbert curve whose body is no tile.
    func passOver(_ tiles: Range<UInt64>) {
        guard let passedOver else { return }
        tiles.lazy.compactMap { TileID(hilbertID: $0) }.forEach(passedOver)
    }

    /// Compares a row with the earlier rows of its tile: the one body that is a tile counts, as everywhere.
    private func compare(_ known: Place, with body: [UInt8], isUsable: Bool, _ report: inout VerifyReport) {
        guard isUsable, let first = known.body, first != body, settled(first) != settled(body) else {
            return report.add("twice", at: "\(known.tile)", because: "the tile is a duplicate")
        }
        report.add(
            "conflicting-tiles", at: "\(known.tile)", because: "the tile is there several times with different bodies")
    }

    /// The canonical form of a body that is a tile; other bytes as they are.
    private func settled(_ body: [UInt8]) -> [UInt8] {
        // Both were checked before.
        guard let format = metadata.format, let plain = try? dialect.decoded(body) else { return body }
        return (try? checker.check(plain, coding: .identity, declared: format)) ?? body
    }

    /// Compares the totals with the metadata and the mask, and the pictures with the stated format.
    package func finish(inMask: UInt64, _ report: inout VerifyReport) {
        if let recorded = metadata.tilesHash, recorded != report.tilesHash {
            report.add(
                "hash-mismatch", at: "metadata 'agg_tiles_hash'",
                because: "it is \(recorded.prefix(64)), the tiles hash to \(report.tilesHash)")
        }
        if let mask, let span = zooms ?? ZoomRange(min: 0, max: mask.maxZoom) {
            let expected = mask.count(in: span)
            report.absent = expected - min(expected, inMask)
        }
        guard let stated = metadata.format, let found = pictures.mostFrequent(orStated: stated) else { return }
        // A patch has only some of the tiles.
        if found != stated, !metadata.isPatch { metadata.addWrongFormat(found, &report) }
        report.otherPictures = pictures.count(besides: found)
    }

    private func tile(zoom: Int64, column: Int64, row: Int64) -> TileID? {
        guard 0...Int64(TileID.maxZoom) ~= zoom, column >= 0, row >= 0 else { return nil }
        return TileID(zoom: Int(zoom), x: Int(column), tmsY: Int(row))
    }

    /// Whether the mask has the tile (always, without a mask), after saying so when it or a zoom range has not.
    package func isWelcome(_ tile: TileID, _ report: inout VerifyReport) -> Bool {
        if let stated = metadata.zooms, !stated.contains(tile.zoom) {
            report.add("outside-zooms", at: "\(tile)", because: "the metadata says zooms \(stated)")
        }
        if let zooms, !zooms.contains(tile.zoom) {
            report.add("outside-zooms", at: "\(tile)", because: "the package spans zooms \(zooms)")
            return false
        }
        guard mask?.contains(tile) ?? true else {
            report.add("outside-mask", at: "\(tile)", because: "the tile is not in the mask")
            return false
        }
        return true
    }

    /// Checks a body as the file has it: with a preset dictionary no body has the form that MBTiles requires.
    ///
    /// - Returns: Whether it is a tile.
    private mutating func checkStored(_ body: [UInt8], of tile: TileID, _ report: inout VerifyReport) -> Bool {
        guard dialect.dictionary != nil else { return check(body, of: tile, &report) }
        do throws(ArchiveError) {
            return check(try dialect.decoded(body), of: tile, coding: .identity, &report)
        } catch {
            report.addUnusable("bad-coding", at: "\(tile)", because: error.message)
            return false
        }
    }

    /// Decodes a body that has not been seen before.
    ///
    /// - Parameters:
    ///   - coding: How it is packed; `nil` when the file does not specify it and requires the canonical form.
    ///   - tiles: How many tiles in a row have it.
    /// - Returns: Whether it is a tile, as far as the format of the file is known.
    package mutating func check(
        _ body: [UInt8], of tile: TileID, coding: BodyCoding? = nil, tiles: UInt64 = 1, _ report: inout VerifyReport
    ) -> Bool {
        guard !body.isEmpty else {
            report.addUnusable(
                "no-body", at: "\(tile)", because: "the tile has no body, or its body is not a BLOB", tiles: tiles)
            return false
        }
        guard let format = metadata.format else { return true }
        if coding == .gzip, !Gzip.isGzip(body) {
            report.addUnusable(
                "not-canonical", at: "\(tile)", because: "the body is not gzip, but the file says that all bodies are",
                tiles: tiles)
            return false
        }
        let key = Digest(of: body).prefix128.0
        if !seen.contains(key) {
            do throws(TileBodiesError) {
                let settled = try checker.check(body, coding: coding ?? .identity, declared: format)
                if coding == nil, settled != body {
                    report.add(
                        "not-canonical", at: "\(tile)",
                        because: "the body is not stored as MBTiles requires (vector tiles: one gzip member)")
                }
            } catch {
                report.addUnusable(error.code.description, at: "\(tile)", because: error.message, tiles: tiles)
                return false
            }
            if seen.count < Self.seenLimit { seen.insert(key) }
        }
        if !format.traits.isVector { pictures.add(body, stated: format, tiles: tiles) }
        return true
    }
}
