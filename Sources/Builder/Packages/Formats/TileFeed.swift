internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import PackageFiles
internal import TileBodies
internal import Tiles

/// One tile of a feed.
struct FeedTile {
    let tile: TileID
    /// Identifies the body.
    let key: BodyKey
    /// Whether other tiles may have the same body; never false if they have.
    let occursAgain: Bool
    /// The canonical body.
    let body: () throws -> [UInt8]
}

/// The tiles of a source in the order that an exporter needs, their bodies canonical, and the metadata complete.
///
/// The content of a Packhorse package is trusted (its seal was checked): bodies are identified by their numbers where
/// it has them, and metadata and hash are the recorded ones. Every body of a third-party file is checked and brought
/// into its canonical form, and its metadata is completed from its tiles. Memory: 24 MB for sorting, 2–4 bytes a
/// different body.
final class TileFeed {
    /// The rows of the metadata table, without the seal.
    private(set) var rows: [String: String] = [:]
    let format: TileFormat
    private let source: any TileArchive
    private let coding: BodyCoding
    private let place: URL
    private let checker = BodyChecker()
    private let goesByReference: Bool
    private var repeats: RepeatFilter
    private var sorted: TileSorter?

    /// - Parameters:
    ///   - place: A name on the file system for scratch files.
    ///   - name: What a file without a name is called.
    ///   - tick: Called regularly; an error that it throws ends the work.
    init(
        _ source: any TileArchive, _ facts: ArchiveFacts, _ format: TileFormat, near place: URL, name: String,
        tick: () throws -> Void
    ) throws {
        self.source = source
        self.place = place
        self.format = format
        coding = facts.coding
        repeats = RepeatFilter(tiles: try source.bodyLimit())
        goesByReference = facts.goesByReference
        if goesByReference {
            try source.tiles(isStrict: true) { _, reference, _ in repeats.add(BodyKey(reference: reference)) }
        } else {
            rows = try survey(facts.rows, name: name, tick: tick)
        }
        if facts.isOwn {
            rows = facts.rows
            // CARTO's format uses another word for the tile format.
            rows["format"] = format.rawValue
        }
    }

    /// Calls `each` with the tiles by zoom, column and TMS row.
    func inRowOrder(_ each: (FeedTile) throws -> Void) throws {
        let sorter = try sorted ?? sorter { $0.rowOrder }
        try sorter.walk { record in
            guard let tile = TileID(rowOrder: record.order) else { throw Self.lost(record) }
            try deliver(record, for: tile, each)
        }
    }

    /// Calls `each` with the tiles by zoom and along the Hilbert curve.
    func inHilbertOrder(_ each: (FeedTile) throws -> Void) throws {
        sorted = nil
        try sorter { $0.hilbertID }.walk { record in
            guard let tile = TileID(hilbertID: record.order) else { throw Self.lost(record) }
            try deliver(record, for: tile, each)
        }
    }

    private static func lost(_ record: TileRecord) -> PackagesError {
        PackagesError(.verificationFailed, "The tile order has no entry \(record.order); this is a bug in Packhorse.")
    }

    private func sorter(_ tick: () throws -> Void = {}, _ order: (TileID) -> UInt64) throws -> TileSorter {
        let sorter = TileSorter(near: place)
        var count = 0
        try source.tiles(isStrict: true) { tile, reference, length in
            count += 1
            if count.isMultiple(of: 65_536) { try tick() }
            try sorter.add(TileRecord(order: order(tile), reference: reference, length: length))
        }
        return sorter
    }

    private func deliver(_ record: TileRecord, for tile: TileID, _ each: (FeedTile) throws -> Void) throws {
        if goesByReference {
            let key = BodyKey(reference: record.reference)
            try each(
                FeedTile(tile: tile, key: key, occursAgain: repeats.occursAgain(key)) {
                    try self.source.body(record, of: tile)
                })
        } else if let body = try settled(record, tile) {
            let key = BodyKey(Digest(of: body))
            try each(FeedTile(tile: tile, key: key, occursAgain: repeats.occursAgain(key)) { body })
        }
    }

    /// The canonical body; `nil` for a tile without bytes, which counts as missing.
    private func settled(_ record: TileRecord, _ tile: TileID) throws -> [UInt8]? {
        let stored = try source.body(record, of: tile)
        do throws(TileBodiesError) {
            return try checker.check(stored, coding: coding, declared: format)
        } catch {
            if error.code == .emptyBody { return nil }
            throw PackagesError(
                .badSource, "Tile \(tile) of the file cannot be used: \(error.message).", cause: error)
        }
    }

    /// Looks at every body of a third-party file.
    private func survey(_ given: [String: String], name: String, tick: () throws -> Void) throws -> [String: String] {
        let sorter = try sorter(tick) { $0.rowOrder }
        sorted = sorter
        var facts = ForeignMetadata(given, format, name: name)
        var count = 0
        try sorter.walk { record in
            guard let tile = TileID(rowOrder: record.order), let body = try settled(record, tile) else { return }
            let key = BodyKey(Digest(of: body))
            repeats.add(key)
            try facts.add(tile, body: body, key: key)
            count += 1
            if count % 1_024 == 0 { try tick() }
        }
        return facts.rows()
    }
}
