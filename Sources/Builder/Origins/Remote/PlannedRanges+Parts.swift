import PMTiles
public import Tiles

extension PlannedRanges {
    /// The most tiles of a part, unless fewer are wanted.
    static let mostTiles: UInt64 = 16_384
    /// The fewest tiles that are wanted of a part.
    private static let fewestTiles: UInt64 = 64
    /// A plan has some of these parts at least, so that several workers have work until its end.
    private static let wantedParts: UInt64 = 16
    /// Bytes of a part, unless there are too many for a message.
    private static let mostBytes: UInt64 = 32 << 20
    /// A plan has at most some of these parts because of their bytes.
    private static let mostParts: UInt64 = 4_096

    /// Cuts the positions into parts, between requests.
    ///
    /// Only a request of more than 16,384 tiles is cut in itself. A part of one zoom has the smallest cell above its tiles; cuts
    /// are where the cells stay small. A part of several zooms has the cell and zooms of the whole plan.
    ///
    /// - Parameters:
    ///   - cell: A tile above all tiles of the plan.
    ///   - zooms: Their zooms.
    public func parts(in cell: TileID, zooms: ZoomRange) -> [Part] {
        let all = plan.tiles
        let bytes = plan.requests.reduce(0) { $0 + UInt64($1.count) }
        let wanted = min(max(all / Self.wantedParts, Self.fewestTiles), Self.mostTiles)
        let limit = max(Self.mostBytes, bytes / Self.mostParts)
        var (parts, open): ([Group], Group?) = ([], nil)
        for group in groups() {
            guard group.tiles <= Self.mostTiles else {
                open.map { parts.append($0) }
                open = nil
                parts += group.runs.flatMap { Self.divided($0) }.reduce(into: [Group]()) { pieces, run in
                    if let last = pieces.last, last.tiles + UInt64(run.count) <= Self.mostTiles {
                        pieces[pieces.count - 1].add(run)
                    } else {
                        pieces.append(Group(run))
                    }
                }
                continue
            }
            guard let before = open else {
                open = group
                continue
            }
            let joined = before.joined(with: group)
            let isFull = joined.tiles > wanted || joined.bytes > limit
            let isWider = before.tiles * 2 >= wanted && joined.isWider(than: before)
            if isFull || isWider {
                parts.append(before)
                open = group
            } else {
                open = joined
            }
        }
        open.map { parts.append($0) }
        return parts.map { part in
            guard let zoom = ZoomRange(min: part.zooms.lowerBound, max: part.zooms.upperBound), zoom.min == zoom.max
            else { return Part(cell: cell, zooms: zooms, tiles: part.tiles) }
            return Part(cell: part.cell, zooms: zoom, tiles: part.tiles)
        }
    }

    /// The tiles of each request, then those without a body.
    private func groups() -> [Group] {
        var (groups, number): ([Group], Int?) = ([], nil)
        var request = 0
        for run in plan.runs {
            let own = run.place.flatMap { place -> Int? in
                while request < plan.requests.count, plan.requests[request].upperBound <= place.lowerBound {
                    request += 1
                }
                guard request < plan.requests.count, plan.requests[request].contains(place.lowerBound) else {
                    return nil
                }
                return request
            }
            if let own, own == number {
                groups[groups.count - 1].add(run)
            } else if let last = groups.last, own == nil, number == nil, last.runs.last?.place == run.place,
                run.place != nil
            {
                groups[groups.count - 1].add(run)
            } else {
                groups += own == nil ? Self.divided(run).map { Group($0) } : [Group(run)]
            }
            number = own
        }
        return groups
    }

    /// A run as runs of no more tiles than a part has.
    private static func divided(_ run: RangePlan.Run) -> [RangePlan.Run] {
        stride(from: 0, to: UInt64(run.count), by: Int(mostTiles)).map { start in
            var piece = run
            piece.tile += start
            piece.count = UInt32(min(mostTiles, UInt64(run.count) - start))
            return piece
        }
    }
}

/// Runs that follow one another, and what their part would be.
private struct Group {
    private(set) var runs: [RangePlan.Run]
    private(set) var tiles: UInt64
    private(set) var bytes: UInt64
    private(set) var cell: TileID
    private(set) var zooms: ClosedRange<Int>

    init(_ run: RangePlan.Run) {
        let (first, last) = Self.ends(run)
        runs = [run]
        tiles = UInt64(run.count)
        bytes = UInt64(run.length)
        zooms = min(first.zoom, last.zoom)...max(first.zoom, last.zoom)
        cell = Self.above(first, last)
    }

    /// The first and the last tile of a run.
    private static func ends(_ run: RangePlan.Run) -> (TileID, TileID) {
        (
            TileID(hilbertID: run.tile) ?? .root,
            TileID(hilbertID: run.tile + UInt64(run.count) - 1) ?? .root
        )
    }

    private static func above(_ cell: TileID, _ tile: TileID) -> TileID {
        var cell = cell
        while !cell.contains(tile), let parent = cell.parent { cell = parent }
        return cell
    }

    mutating func add(_ run: RangePlan.Run) {
        let (first, last) = Self.ends(run)
        runs.append(run)
        tiles += UInt64(run.count)
        bytes += UInt64(run.length)
        zooms = min(zooms.lowerBound, first.zoom)...max(zooms.upperBound, last.zoom)
        cell = Self.above(Self.above(cell, first), last)
    }

    func joined(with other: Group) -> Group {
        var all = self
        all.runs = []
        all.tiles += other.tiles
        all.bytes += other.bytes
        all.zooms = min(zooms.lowerBound, other.zooms.lowerBound)...max(zooms.upperBound, other.zooms.upperBound)
        all.cell = Self.above(cell, other.cell)
        return all
    }

    /// Whether it has a larger cell, or more zooms.
    func isWider(than other: Group) -> Bool { cell.zoom < other.cell.zoom || zooms != other.zooms }
}
