import PMTiles
import TileBodies
import Tiles
import Tilesets
import Transfer

/// An origin whose data have one version for as long as it is open.
public protocol PinnedOrigin: TileOrigin {
    /// The version; equal on every machine for the same data.
    var version: String { get }
    /// Whether another version was met: open the origin again.
    var isStale: Bool { get }
    /// Whether there is another version by now; the server is asked unless an answer since `begin` told that there is none.
    func hasChanged(since begin: ContinuousClock.Instant) async throws -> Bool
}

/// Tiles out of a PMTiles archive on a web server, fetched in long ranges and checked as those from a tile server are.
final class RemoteArchiveOrigin: PinnedOrigin {
    private let archive: RemotePMTiles
    private let format: TileFormat
    private let settler: Settler
    private let limit: UInt64

    init(_ archive: RemotePMTiles, _ tileset: Tileset, lanes: Int, layers: LayerMemory?) {
        self.archive = archive
        format = tileset.format
        limit = UInt64(tileset.maxTileBytes)
        settler = Settler(lanes: lanes, limit: max(64 << 20, tileset.maxTileBytes), layers: layers)
    }

    var version: String { archive.file.version.text }
    var isStale: Bool { archive.file.isStale }
    func hasChanged(since begin: ContinuousClock.Instant) async throws -> Bool {
        try await archive.file.hasChanged(since: begin)
    }

    /// A tile that came from this version before is as it was, and is not read again.
    func fetch(
        _ tiles: any Sequence<TileID> & Sendable, known: [TileID: TileValidators], failedBefore: Bool,
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        let tag = archive.file.version.tag
        var wanted: [UInt64: TileID] = [:]
        var settled: [FetchedTile] = []
        for tile in tiles {
            if let tag, known[tile]?.etag == tag {
                settled.append(FetchedTile(tile: tile, outcome: .unchanged, received: 0))
            } else {
                wanted[tile.hilbertID] = tile
            }
        }
        let ids = wanted.keys.sorted()
        let entries = try await archive.entries(of: ids)
        var bodies: [Range<UInt64>: [TileID]] = [:]
        for id in ids {
            guard let tile = wanted[id] else { continue }
            guard let entry = entries[id] else {
                settled.append(FetchedTile(tile: tile, outcome: .empty, received: 0))
                continue
            }
            do throws(OriginsError) {
                bodies[try place(of: entry), default: []].append(tile)
            } catch {
                let outcome = FetchedTile.Outcome.failed(cause: error.code.description, detail: error.message)
                settled.append(FetchedTile(tile: tile, outcome: outcome, received: 0))
            }
        }
        if !settled.isEmpty { try await deliver(settled) }
        try await fetch(bodies, tag: tag, deliver: deliver)
    }

    private func place(of entry: PMTilesDirectory.Entry) throws(OriginsError) -> Range<UInt64> {
        guard entry.length <= limit else {
            throw OriginsError(.badArchive, "the tile has \(entry.length) bytes; the limit is \(limit)")
        }
        do throws(PMTilesError) {
            return try archive.header.place(of: entry, in: archive.file.name)
        } catch {
            throw OriginsError(error)
        }
    }

    /// The most tiles that ``sizes(of:)`` is asked for.
    static let mostListed: UInt64 = 2_000_000

    /// Whether bodies are stored as they lie in the archive, so that its directories tell what they will take.
    var tellsSizes: Bool { format != .mvt || archive.coding == .gzip }

    /// What the directories say of tiles: bytes of their bodies, each of which is received once.
    ///
    /// - Parameter tiles: Of one zoom.
    /// - Throws: ``OriginsError``, `CancellationError`.
    func sizes(of tiles: [TileID]) async throws -> [OriginSampler.Answer] {
        var answers: [OriginSampler.Answer] = []
        answers.reserveCapacity(tiles.count)
        var seen = Set<UInt64>()
        for start in stride(from: 0, to: tiles.count, by: 65_536) {
            try Task.checkCancellation()
            let part = tiles[start..<min(start + 65_536, tiles.count)]
            let entries = try await archive.entries(of: part.map(\.hilbertID).sorted())
            for tile in part {
                guard let entry = entries[tile.hilbertID] else {
                    answers.append(OriginSampler.Answer(tile: tile, bytes: 0, received: 0, body: 0))
                    continue
                }
                let isNew = seen.insert(entry.offset).inserted
                answers.append(
                    OriginSampler.Answer(
                        tile: tile, bytes: Int(clamping: entry.length),
                        received: isNew ? Int(clamping: entry.length) : 0,
                        // No body has the number 0, which stands for none.
                        body: entry.offset &+ 1))
            }
        }
        return answers.sorted { $0.tile < $1.tile }
    }

    private func fetch(
        _ bodies: [Range<UInt64>: [TileID]], tag: String?, deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        let places = bodies.keys.sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
        // Bodies that overlap without being the same belong to damaged archives; they are fetched one by one.
        let isApart = zip(places, places.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
        let parts =
            isApart
            ? JoinedRanges.parts(places, overfetch: RemotePMTiles.overfetch, most: RemoteFile.mostPerRequest)
            : places.indices.map { JoinedRanges.Part(range: places[$0], pieces: $0..<$0 + 1) }
        try await archive.file.read(parts.map(\.range)) { [settler, format, archive] number, bytes in
            let part = parts[number]
            let settled = await settler.run { checker in
                part.pieces.flatMap { piece in
                    let start = Int(places[piece].lowerBound - part.range.lowerBound)
                    let body = Array(bytes[start..<start + places[piece].count])
                    return Self.settle(body, archive.coding, format, tag, bodies[places[piece]] ?? [], checker)
                }
            }
            try await deliver(settled)
        }
    }

    /// What one body means for the tiles that share it.
    private static func settle(
        _ body: [UInt8], _ coding: BodyCoding, _ format: TileFormat, _ tag: String?, _ tiles: [TileID],
        _ checker: BodyChecker
    ) -> [FetchedTile] {
        let outcome: FetchedTile.Outcome
        var layers: [LayerMemory.Number]?
        do throws(TileBodiesError) {
            outcome = .stored(
                body: try checker.settle(body, coding: coding, declared: format), etag: tag, lastModified: nil)
            layers = checker.settledLayers
        } catch {
            outcome =
                error.code == .emptyBody ? .empty : .failed(cause: error.code.description, detail: error.message)
        }
        return tiles.enumerated().map { number, tile in
            FetchedTile(tile: tile, outcome: outcome, received: number == 0 ? body.count : 0, layers: layers)
        }
    }
}
