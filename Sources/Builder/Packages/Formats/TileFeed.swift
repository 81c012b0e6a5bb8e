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
    /// What the tiles are: the format that the file has most, where none of them is what the file or the caller says.
    private(set) var format: TileFormat
    /// Whether the caller said the format.
    private let isSaid: Bool
    private let source: any TileArchive
    private let coding: BodyCoding
    private let place: URL
    private let checker = BodyChecker(takesAnyPicture: true)
    private let goesByReference: Bool
    private let isStrict: Bool
    private var repeats: RepeatFilter
    private var sorted: TileSorter?
    /// What was left out, or was taken in another form.
    private(set) var remarks = TileRemarks()
    /// Whether remarks are made: in the first of the walks over the tiles.
    private var isSurveying = false

    /// - Parameters:
    ///   - format: What the tiles are, as the caller or the file says.
    ///   - isSaid: Whether the caller says it; then a tile of the file must be of it.
    ///   - isStrict: Whether tiles that cannot be used, and repeated ones, refuse the file.
    ///   - place: A name on the file system for scratch files.
    ///   - name: What a file without a name is called.
    ///   - tick: Called regularly; an error that it throws ends the work.
    /// - Throws: `bad-source` for a file of another program without a tile that can be used, and for one that has a tile
    ///   with several bodies.
    init(
        _ source: any TileArchive, facts: ArchiveFacts, format: TileFormat, isSaid: Bool = false,
        isStrict: Bool = false,
        near place: URL, name: String, tick: () throws -> Void
    ) throws {
        self.source = source
        self.place = place
        self.format = format
        self.isSaid = isSaid
        self.isStrict = isStrict
        coding = facts.coding
        repeats = RepeatFilter(tiles: try source.bodyLimit())
        goesByReference = facts.goesByReference
        if isSaid, facts.isOwn, let own = source.format, own != format { throw Self.otherFormat(format, found: own) }
        if goesByReference {
            try source.tiles(
                strange: { problem, _ in throw Self.refusal(problem) },
                { _, reference, _ in repeats.add(BodyKey(reference: reference)) })
        } else {
            isSurveying = true
            rows = try survey(facts, name: name, tick: tick)
            isSurveying = false
        }
        if facts.isOwn {
            rows = facts.rows
            // CARTO's format uses another word for the tile format.
            rows["format"] = format.rawValue
            rows["bounds"] = rows["bounds"].map(ForeignMetadata.flat)
        }
    }

    /// Calls `each` with the tiles by zoom, column and TMS row.
    func inRowOrder(_ each: (FeedTile) throws -> Void) throws {
        try walk(
            try sorted ?? sorter { $0.rowOrder }, tile: { TileID(rowOrder: $0) }, { try deliver($0, for: $1, each) })
    }

    /// Calls `each` with the tiles by zoom, column and row from the north.
    func inNorthOrder(_ each: (FeedTile) throws -> Void) throws {
        sorted = nil
        try walk(try sorter { $0.northOrder }, tile: { TileID(northOrder: $0) }, { try deliver($0, for: $1, each) })
    }

    /// Calls `each` with the tiles by zoom and along the Hilbert curve.
    func inHilbertOrder(_ each: (FeedTile) throws -> Void) throws {
        sorted = nil
        try walk(try sorter { $0.hilbertID }, tile: { TileID(hilbertID: $0) }, { try deliver($0, for: $1, each) })
    }

    /// Calls `each` with every tile once.
    private func walk(
        _ sorter: TileSorter, tile: (UInt64) -> TileID?, _ each: (TileRecord, TileID) throws -> Void
    ) throws {
        func place(_ record: TileRecord) throws -> TileID {
            guard let tile = tile(record.order) else { throw Self.lost(record) }
            return tile
        }
        try sorter.walk(
            choose: { try choose($0, $1, of: try place($0)) }, { try each($0, try place($0)) })
    }

    /// The record that stays of two with the same place: the one with a body; either of them when the bodies are equal.
    private func choose(_ first: TileRecord, _ second: TileRecord, of tile: TileID) throws -> TileRecord {
        guard case .success(let one) = try settled(first, tile) else {
            _ = try body(first, tile)
            return second
        }
        guard case .success(let other) = try settled(second, tile) else {
            _ = try body(second, tile)
            return first
        }
        guard one == other else {
            throw PackagesError(
                .badSource,
                "The file has the tile \(tile) several times with different bodies; nothing says which of them is right. "
                    + "Delete the wrong rows with sqlite3, or write the file again.")
        }
        if isSurveying {
            guard !isStrict else {
                throw PackagesError(
                    .badSource, "The file has the tile \(tile) several times. Without --strict it is taken once.")
            }
            remarks.addRepeated()
        }
        return first
    }

    private static func refusal(_ problem: VerifyReport.Problem) -> PackagesError {
        PackagesError(.badSource, "The file cannot be used: \(problem.place): \(problem.message).")
    }

    private static func otherFormat(_ said: TileFormat, found: TileFormat) -> PackagesError {
        PackagesError(
            .badSource,
            "--input-format says \(said.rawValue), but the tiles of the file are \(found.rawValue). Omit the option.")
    }

    private static func lost(_ record: TileRecord) -> PackagesError {
        PackagesError(.verificationFailed, "The tile order has no entry \(record.order); this is a bug in Packhorse.")
    }

    private func sorter(_ tick: () throws -> Void = {}, _ order: (TileID) -> UInt64) throws -> TileSorter {
        let sorter = TileSorter(near: place)
        var count = 0
        func add(_ tile: TileID, _ reference: UInt64, _ length: UInt64) throws {
            count += 1
            if count.isMultiple(of: 65_536) { try tick() }
            try sorter.add(TileRecord(order: order(tile), reference: reference, length: length))
        }
        try source.tiles(strange: { try leaveOut($0, tiles: $1) }, add)
        return sorter
    }

    private func deliver(_ record: TileRecord, for tile: TileID, _ each: (FeedTile) throws -> Void) throws {
        if goesByReference {
            let key = BodyKey(reference: record.reference)
            try each(
                FeedTile(tile: tile, key: key, occursAgain: repeats.occursAgain(key)) {
                    switch try self.source.body(record, of: tile) {
                    case .bytes(let bytes): return bytes
                    case .unusable(let problem): throw Self.refusal(problem)
                    }
                })
        } else if let body = try body(record, tile) {
            let key = BodyKey(Digest(of: body))
            try each(FeedTile(tile: tile, key: key, occursAgain: repeats.occursAgain(key)) { body })
        }
    }

    /// The canonical body; `nil` for a tile that cannot be used, after a remark.
    private func body(_ record: TileRecord, _ tile: TileID) throws -> [UInt8]? {
        switch try settled(record, tile) {
        case .success(let body): return body
        case .failure(let error):
            try leaveOut(error.problem)
            return nil
        }
    }

    private struct Unusable: Error { let problem: VerifyReport.Problem }

    /// The canonical body, or why the stored body cannot be used.
    private func settled(_ record: TileRecord, _ tile: TileID) throws -> Result<[UInt8], Unusable> {
        switch try source.body(record, of: tile) {
        case .unusable(let problem): return .failure(Unusable(problem: problem))
        case .bytes(let stored):
            do throws(TileBodiesError) {
                return .success(try checker.check(stored, coding: coding, declared: format))
            } catch {
                return .failure(Unusable(problem: .init(error, of: tile)))
            }
        }
    }

    /// Leaves out what cannot be used.
    ///
    /// - Throws: `bad-source` when the file is taken strictly.
    private func leaveOut(_ problem: VerifyReport.Problem, tiles: UInt64 = 1) throws {
        guard isSurveying else { return }
        guard !isStrict else {
            throw PackagesError(
                .badSource,
                "Tile \(problem.place) of the file cannot be used: \(problem.message). Without --strict such tiles are left out."
            )
        }
        remarks.add(problem, tiles: tiles)
    }

    /// Looks at every body of a third-party file.
    private func survey(_ known: ArchiveFacts, name: String, tick: () throws -> Void) throws -> [String: String] {
        let sorter = try sorter(tick) { $0.rowOrder }
        sorted = sorter
        if known.lostBodies > 0 {
            try leaveOut(.ofLostBodies(known.lostBodies), tiles: UInt64(known.lostBodies))
        }
        var facts = ForeignMetadata(known.rows, format, name: name)
        var pictures = PictureCounts()
        var count = 0
        func look(_ record: TileRecord, _ tile: TileID) throws {
            guard let body = try body(record, tile) else { return }
            if !format.traits.isVector { pictures.add(body, stated: format) }
            let key = BodyKey(Digest(of: body))
            repeats.add(key)
            try facts.add(tile, body: body, key: key)
            count += 1
            if count % 1_024 == 0 { try tick() }
        }
        try walk(sorter, tile: { TileID(rowOrder: $0) }, look)
        guard count > 0 || known.isOwn else {
            if isSaid, let found = source.format, found != format { throw Self.otherFormat(format, found: found) }
            let why = remarks.examples.first.map { " (\($0.place): \($0.message))" } ?? ""
            throw PackagesError(.badSource, "The file has no tile that can be used\(why).")
        }
        if let found = pictures.mostFrequent(orStated: format) {
            if isSaid, found != format { throw Self.otherFormat(format, found: found) }
            format = found
            facts.format = found
            remarks.add(otherPictures: pictures.count(besides: found))
        }
        return facts.rows()
    }
}
