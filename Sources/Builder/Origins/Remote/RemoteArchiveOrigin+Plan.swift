import Errors
import PMTiles
import Tiles

/// Tiles by a plan: the ranges are known before the first request.
extension RemoteArchiveOrigin: PlanningOrigin {
    func plan(
        _ tiles: any Sequence<TileID> & Sendable, progress: @Sendable () -> Void
    ) async throws -> PlannedRanges {
        let plan = try await RangePlanner(archive, tiles, limit: limit).plan(progress: progress)
        guard hasBlockList else { return PlannedRanges(plan) }
        let found = try await BlockListLookup(archive: archive, plan: plan).find(progress: progress)
        return PlannedRanges(plan.with(found.blocks), note: found.note)
    }

    func fetch(
        _ tiles: Set<TileID>, of ranges: PlannedRanges, at positions: Range<UInt64>, known: [TileID: TileValidators],
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        guard let runs = ranges.plan.runs(at: positions), ranges.plan.archive.length == archive.file.version.length
        else {
            throw OriginsError(.busy, "The ranges of '\(archive.file.name)' were planned for another file.")
        }
        let tag = archive.file.version.tag
        let plan = ranges.plan
        let hasBlocks = !plan.blocks.isEmpty && !areBlocksRefuted
        var settled: [FetchedTile] = []
        var (kept, found): ([(place: Range<UInt64>, tile: TileID)], [(place: Range<UInt64>, tile: TileID)]) = ([], [])
        var all: [Range<UInt64>] = []
        // Mostly all tiles of the part are wanted.
        let isWhole = UInt64(tiles.count) == UInt64(positions.count)
        for run in runs {
            if let place = run.place, UInt64(run.length) <= limit, place != all.last { all.append(place) }
            let own = hasBlocks ? run.place.flatMap { plan.tag(of: $0) } : nil
            for id in run.tile..<run.tile + UInt64(run.count) {
                guard let tile = TileID(hilbertID: id), isWhole || tiles.contains(tile) else { continue }
                if !known.isEmpty, let before = known[tile]?.etag, before == tag || before == own {
                    if let place = run.place {
                        kept.append((place, tile))
                    } else {
                        settled.append(FetchedTile(tile: tile, outcome: .unchanged, received: 0, notSent: 0))
                    }
                } else if let place = run.place, UInt64(run.length) <= limit {
                    found.append((place, tile))
                } else if run.length > 0 {
                    settled.append(.leftOut(tile, tooLong(UInt64(run.length))))
                } else {
                    settled.append(FetchedTile(tile: tile, outcome: .empty, received: 0))
                }
            }
        }
        if !settled.isEmpty { try await deliver(settled) }
        let bodies = WantedBodies(found)
        let parts = requests(for: bodies.places, of: all, ranges.plan.requests)
        try await read(bodies, by: parts) {
            hasBlocks ? plan.tag(of: $0) ?? tag : tag
        } onPart: { part, bytes in
            guard hasBlocks, !plan.agrees(with: bytes, at: part.range.lowerBound) else { return }
            refuteBlocks()
            throw RefutedBlocks()
        } deliver: {
            try await deliver($0)
        }
        // What the list says counts when all that came agrees with it.
        let unchanged = Self.unchanged(WantedBodies(kept), sent: Set(bodies.places))
        if !unchanged.isEmpty { try await deliver(unchanged) }
    }

    /// The results of tiles that are as before; the bytes of a body that no request has were not sent.
    private static func unchanged(_ bodies: WantedBodies, sent: Set<Range<UInt64>>) -> [FetchedTile] {
        bodies.places.indices.flatMap { number in
            let (place, tiles) = (bodies.places[number], bodies.tiles(of: number))
            return tiles.map { tile in
                let isFirst = tile == tiles.first && !sent.contains(place)
                return FetchedTile(tile: tile, outcome: .unchanged, received: 0, notSent: isFirst ? place.count : 0)
            }
        }
    }

    /// The planned requests that have some bodies: as planned where all of their bodies are wanted, otherwise joined once more.
    ///
    /// - Parameters:
    ///   - places: Those that are wanted, ascending.
    ///   - all: Those of the part of the plan, ascending.
    ///   - planned: Ascending, without overlap.
    private func requests(
        for places: [Range<UInt64>], of all: [Range<UInt64>], _ planned: [Range<UInt64>]
    ) -> [JoinedRanges.Part] {
        var parts: [JoinedRanges.Part] = []
        var (index, request, passed) = (0, 0, 0)
        while index < places.count {
            while request < planned.count, planned[request].upperBound <= places[index].lowerBound { request += 1 }
            let first = index
            var inPlan = 1
            index += 1
            if request < planned.count, planned[request].contains(places[first].lowerBound) {
                let (start, end) = (planned[request].lowerBound, planned[request].upperBound)
                while index < places.count, places[index].upperBound <= end { index += 1 }
                while passed < all.count, all[passed].lowerBound < start { passed += 1 }
                let begin = passed
                while passed < all.count, all[passed].upperBound <= end { passed += 1 }
                inPlan = passed - begin
            }
            let own = places[first..<index]
            let hull = places[first].lowerBound..<places[index - 1].upperBound
            // Bodies that overlap occur only in damaged archives and in plans of others.
            let isApart = zip(own, own.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
            let fits = hull.upperBound - hull.lowerBound <= RemoteFile.maxPerRequest
            if own.count == 1 || !isApart {
                parts += own.indices.map { JoinedRanges.Part(range: places[$0], pieces: $0..<$0 + 1) }
            } else if own.count == inPlan, fits {
                parts.append(JoinedRanges.Part(range: hull, pieces: first..<index))
            } else {
                let some = JoinedRanges.parts(
                    Array(own), overfetch: archive.file.overfetch, most: archive.file.maxPerPart)
                parts += some.map { part in
                    JoinedRanges.Part(
                        range: part.range, pieces: first + part.pieces.lowerBound..<first + part.pieces.upperBound)
                }
            }
        }
        return parts
    }
}
