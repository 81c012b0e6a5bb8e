internal import Foundation
internal import PackageFiles
internal import Shards
internal import Tiles

/// What the tiles of a package take in its files, before any of them is written: the first pass of a merge into parts.
///
/// Memory: two to four bytes a tile, and some 200 for each tile of the grid. A tile that two shards mention counts twice; the batches of a
/// job have no tile in common.
struct PartSizes: Sendable {
    /// The tiles with their sizes.
    let cut: PartCut
    /// Where each shard has tiles: its first zoom, and the places of the grid at and below its tiles; `nil` = nowhere.
    private let reach: [(zoom: Int, places: ClosedRange<UInt64>)?]
    /// Tiles that the shards have a body of.
    let stored: UInt64

    /// The largest number of tiles of the grid.
    private static let gridTiles: UInt64 = 262_144

    /// The deepest zoom that parts of a mask are cut at.
    static func grid(_ mask: TileMask, to zoom: Int) -> Int {
        (0...zoom).last { mask.count(atZoom: $0) <= gridTiles } ?? 0
    }

    /// Reads the index of each shard, twice.
    ///
    /// - Parameter layouts: Of all formats that are written.
    /// - Throws: ``PackagesError``; `missing-tiles` when more than `allowedMissing` are in no shard.
    init(
        _ spec: PackageSpec, _ inputs: [MergeInput], layouts: [PackageLayout], limit: UInt64, allowedMissing: UInt64,
        tick: () throws -> Void
    ) throws {
        let survey = try TileSurvey(spec, inputs, tick: tick)
        let expected = spec.mask.count(in: spec.zooms)
        guard survey.mentioned + allowedMissing >= expected else {
            throw try MergePlan.missing(
                of: spec, from: inputs, count: expected - survey.mentioned, allowed: allowedMissing)
        }
        let grid = Self.grid(spec.mask, to: spec.zooms.max)
        var tally = PartTally(layouts, rows: Int(clamping: expected), spec.metadata)
        var stored: UInt64 = 0
        var reach: [(zoom: Int, places: ClosedRange<UInt64>)?] = []
        var seen: Set<PlacedBody> = []
        for input in inputs {
            var (zoom, span): (Int, ClosedRange<UInt64>?) = (TileID.maxZoom, nil)
            for entry in try TileSurvey.open(input).entries where spec.admits(entry.tile) {
                let cell = entry.tile.ancestor(atZoom: grid) ?? entry.tile
                let place = cell.hilbertPlace << UInt64(2 * (grid - cell.zoom))
                let last = place + (1 << UInt64(2 * (grid - cell.zoom)) - 1)
                zoom = min(zoom, entry.tile.zoom)
                span = min(span?.lowerBound ?? place, place)...max(span?.upperBound ?? last, last)
                guard let body = entry.body else { continue }
                stored += 1
                let key = BodyKey(body.digest)
                let isNew = !survey.repeats.occursAgain(key) || seen.insert(PlacedBody(cell: cell, key: key)).inserted
                tally.add(entry.tile, at: cell, bytes: body.length, isNew: isNew)
            }
            reach.append(span.map { (zoom, $0) })
            try tick()
        }
        self.stored = min(stored, expected)
        self.reach = reach
        cut = PartCut(tally.bytes(), grid: grid, fixed: tally.fixed(), limit: limit)
    }

    /// The shards that may have tiles of a part.
    func inputs(of part: PartCut.Part, among inputs: [MergeInput]) -> [MergeInput] {
        let places = part.first...(part.next.map { $0 - 1 } ?? .max)
        return zip(inputs, reach).filter { _, reach in
            reach.map { $0.zoom < cut.common || $0.places.overlaps(places) } ?? false
        }.map(\.0)
    }
}

/// A body of the tiles of a place.
private struct PlacedBody: Hashable {
    let cell: TileID
    let key: BodyKey
}
