import Errors
import PMTiles
import Synchronization
import TileBodies
import Tiles
import Tilesets
import Transfer

/// An origin whose data have one version for as long as it is open.
public protocol PinnedOrigin: TileOrigin {
    /// The version; equal on every machine for the same data.
    var version: String { get }
    /// Whether another version was found; then open the origin again.
    var isStale: Bool { get }
    /// Whether there is another version by now; asks the server unless an answer since `begin` showed that there is
    /// none.
    func hasChanged(since begin: ContinuousClock.Instant) async throws -> Bool
    /// The versions that the server names in further answers: different ones without a replacement contradict each other.
    func versions(ofAnswers count: Int) async throws -> [String]
}

/// Tiles out of a PMTiles archive on a web server, fetched in long ranges and checked as those from a tile server are.
final class RemoteArchiveOrigin: PinnedOrigin {
    let archive: RemotePMTiles
    private let format: TileFormat
    private let checkPool: BodyCheckPool
    private let plan: BodyPlan
    let limit: UInt64
    /// Whether only some layers of its tiles are kept.
    private let isCut: Bool
    /// Whether a list of blocks is looked for beside the archive.
    let hasBlockList: Bool
    private let isListRefuted = Atomic<Bool>(false)

    init(_ archive: RemotePMTiles, _ tileset: Tileset, checkedBy checkPool: BodyCheckPool) {
        self.archive = archive
        plan = BodyPlan(overfetch: archive.file.overfetch, most: archive.file.maxPerPart)
        format = tileset.format
        limit = UInt64(tileset.maxTileBytes)
        isCut = tileset.layers != nil
        hasBlockList = tileset.sync == true
        self.checkPool = checkPool
    }

    var version: String { archive.file.version.text }
    var isStale: Bool { archive.file.isStale }
    /// Whether bytes of the archive were not those of the list of blocks; then no list counts any more.
    var areBlocksRefuted: Bool { isListRefuted.load(ordering: .relaxed) }
    func refuteBlocks() { isListRefuted.store(true, ordering: .relaxed) }
    /// Bytes of the file.
    var size: UInt64 { archive.file.version.length }
    func hasChanged(since begin: ContinuousClock.Instant) async throws -> Bool {
        try await archive.file.hasChanged(since: begin)
    }

    func versions(ofAnswers count: Int) async throws -> [String] {
        try await archive.file.versions(ofAnswers: count)
    }

    /// A tile that was read from this version before is unchanged, and is not read again.
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
            guard entry.length <= limit else {
                settled.append(.leftOut(tile, tooLong(entry.length)))
                continue
            }
            bodies[try place(of: entry), default: []].append(tile)
        }
        if !settled.isEmpty { try await deliver(settled) }
        try await fetch(bodies, tag: tag, deliver: deliver)
    }

    func tooLong(_ length: UInt64) -> String { "the tile has \(length) bytes; the limit is \(limit)" }

    private func place(of entry: PMTilesDirectory.Entry) throws(OriginsError) -> Range<UInt64> {
        do throws(ArchiveError) {
            return try archive.header.place(of: entry, in: archive.file.name)
        } catch {
            throw OriginsError(error)
        }
    }

    /// The largest number of tiles for ``survey(_:_:)``.
    static let maxListed: UInt64 = 2_000_000

    /// Whether bodies are stored unchanged, so that the archive's directories contain their final sizes.
    var tellsSizes: Bool { !isCut && (format.traits.coding == .identity || archive.coding == .gzip) }

    /// The sizes of a mask's tiles from the directories, without fetching a tile.
    ///
    /// - Returns: Per zoom the bytes of each body, received with the first tile that has it; and the size of the
    ///   transfer.
    /// - Throws: ``OriginsError``, `CancellationError`.
    func survey(_ mask: TileMask, _ zooms: [Int]) async throws -> (
        answers: [[OriginSampler.Answer]], transfer: OriginSampler.Transfer
    ) {
        var answers: [[OriginSampler.Answer]] = []
        var bodies: [UInt64: UInt64] = [:]
        for zoom in zooms {
            let tiles = Array(mask.tiles(atZoom: zoom, under: .root))
            var found: [OriginSampler.Answer] = []
            found.reserveCapacity(tiles.count)
            for start in stride(from: 0, to: tiles.count, by: 65_536) {
                try Task.checkCancellation()
                let part = tiles[start..<min(start + 65_536, tiles.count)]
                let entries = try await archive.entries(of: part.map(\.hilbertID).sorted())
                for tile in part {
                    found.append(Self.answer(for: tile, entry: entries[tile.hilbertID], bodies: &bodies))
                }
            }
            answers.append(found.sorted { $0.tile < $1.tile })
        }
        // Offsets in the section of bodies; the position of the section does not affect the gaps.
        let places = bodies.sorted { $0.key < $1.key }.map { $0.key..<$0.key + $0.value }
        let isApart = zip(places, places.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
        let file = archive.file
        let parts =
            isApart
            ? JoinedRanges.parts(places, overfetch: file.overfetch, most: file.maxPerPart).map(\.range) : places
        return (
            answers,
            OriginSampler.Transfer(
                requests: parts.count, needed: places.reduce(0) { $0 + UInt64($1.count) },
                fetched: parts.reduce(0) { $0 + UInt64($1.count) })
        )
    }

    private static func answer(
        for tile: TileID, entry: PMTilesDirectory.Entry?, bodies: inout [UInt64: UInt64]
    ) -> OriginSampler.Answer {
        // A body longer than Int32 is refused when it is fetched.
        guard let entry, entry.length > 0, entry.length <= UInt64(Int32.max), entry.offset <= UInt64.max / 2 else {
            return OriginSampler.Answer(tile: tile, bytes: 0, received: 0, body: 0)
        }
        let isNew = bodies.updateValue(entry.length, forKey: entry.offset) == nil
        return OriginSampler.Answer(
            tile: tile, bytes: Int(entry.length), received: isNew ? Int(entry.length) : 0,
            // The number 0 means that there is no body.
            body: entry.offset + 1)
    }

    /// Requests sent and body bytes received so far.
    var use: (requests: Int, bytes: Int) { archive.file.use }

    private func fetch(
        _ bodies: [Range<UInt64>: [TileID]], tag: String?, deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        var places: [Range<UInt64>] = []
        var known: [(body: [UInt8], tiles: [TileID])] = []
        for (place, tiles) in bodies {
            if let body = plan.body(at: place) { known.append((body, tiles)) } else { places.append(place) }
        }
        if !known.isEmpty {
            let kept = known
            try await deliver(
                await checkPool.run { [format, archive] checker in
                    kept.reduce(into: []) {
                        Self.add(
                            $1.body, coding: archive.coding, format: format, tag: tag, tiles: $1.tiles[...],
                            checker: checker, isReceived: false, to: &$0)
                    }
                })
        }
        let wanted = WantedBodies(places.flatMap { place in (bodies[place] ?? []).map { (place, $0) } })
        places = wanted.places
        // Bodies that overlap without being equal occur only in damaged archives; they are fetched one by one.
        let isApart = zip(places, places.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
        let parts =
            isApart
            ? plan.parts(places)
            : places.indices.map { JoinedRanges.Part(range: places[$0], pieces: $0..<$0 + 1) }
        try await read(wanted, by: parts) { _ in
            tag
        } onPart: { [plan] part, bytes in
            if part.pieces.count == 1 { plan.cache(bytes, at: part.range) }
        } deliver: {
            try await deliver($0)
        }
    }

    /// Bytes of bodies that are checked together, so that they are hashed and written while they are in the processor's caches.
    private static let checkedTogether = 256 << 10

    /// Requests parts of the file, and checks the bodies in them: some while those before are taken by `deliver`.
    ///
    /// - Parameters:
    ///   - wanted: The bodies; the parts name them by number.
    ///   - tag: The ETag of the tiles with the body at a place.
    ///   - onPart: Called with each part that came; an error of it ends the reading.
    func read(
        _ wanted: WantedBodies, by parts: [JoinedRanges.Part],
        tag: @escaping @Sendable (Range<UInt64>) -> String?,
        onPart: @Sendable (JoinedRanges.Part, [UInt8]) throws -> Void,
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        try await archive.file.read(parts.map(\.range), underWay: RemoteFile.maxUnderWayOfParts) { number, bytes in
            let part = parts[number]
            try onPart(part, bytes)
            var settled: [FetchedTile] = []
            for bodies in Self.groups(of: part.pieces, wanted.places) {
                async let next = check(bodies, of: wanted, in: part, bytes, tag: tag)
                if !settled.isEmpty { try await deliver(settled) }
                settled = await next
            }
            try await deliver(settled)
        }
    }

    /// Cuts the numbers of bodies after some bytes each.
    private static func groups(of bodies: Range<Int>, _ places: [Range<UInt64>]) -> [Range<Int>] {
        var (groups, first, bytes): ([Range<Int>], Int, Int) = ([], bodies.lowerBound, 0)
        for body in bodies {
            bytes += places[body].count
            guard bytes >= checkedTogether || body + 1 == bodies.upperBound else { continue }
            groups.append(first..<body + 1)
            (first, bytes) = (body + 1, 0)
        }
        return groups
    }

    private func check(
        _ bodies: Range<Int>, of wanted: WantedBodies, in part: JoinedRanges.Part, _ bytes: [UInt8],
        tag: @escaping @Sendable (Range<UInt64>) -> String?
    ) async -> [FetchedTile] {
        await checkPool.run { [format, archive] checker in
            var settled: [FetchedTile] = []
            settled.reserveCapacity(bodies.count)
            for number in bodies {
                let place = wanted.places[number]
                let start = Int(place.lowerBound - part.range.lowerBound)
                Self.add(
                    Array(bytes[start..<start + place.count]), coding: archive.coding, format: format, tag: tag(place),
                    tiles: wanted.tiles(of: number), checker: checker, to: &settled)
            }
            return settled
        }
    }

    /// Adds the result of one body for the tiles that share it.
    private static func add(
        _ body: [UInt8], coding: BodyCoding, format: TileFormat, tag: String?, tiles: ArraySlice<TileID>,
        checker: BodyChecker, isReceived: Bool = true, to settled: inout [FetchedTile]
    ) {
        let outcome: FetchedTile.Outcome
        var layers: [LayerCache.Number]?
        do throws(TileBodiesError) {
            outcome = .stored(
                body: try checker.check(body, coding: coding, declared: format), etag: tag, lastModified: nil)
            layers = checker.checkedLayers
        } catch {
            outcome = FetchedTile.outcome(error)
        }
        for tile in tiles {
            settled.append(
                FetchedTile(
                    tile: tile, outcome: outcome,
                    received: isReceived && tile == tiles.first ? body.count : 0, layers: layers))
        }
    }
}
