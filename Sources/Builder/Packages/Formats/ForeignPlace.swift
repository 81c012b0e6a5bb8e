internal import Foundation
internal import PackageFiles
internal import Tiles

/// The bounds and the centre of a third-party file, compared with its tiles.
///
/// Writers swap, negate and forget them; viewers ask for no tile outside of bounds and begin at the centre. Given bounds are
/// kept if they lie within the box of the deepest tiles, or touch all of them over longitude 180, or have the middle of at
/// least half of them.
struct ForeignPlace {
    private let given: String?
    private let stated: BoundingBox?
    private let statedCenter: String?
    private var span: ClosedRange<Int>?
    private var columns = 0...0
    private var rowSpan = 0...0
    private var tiles = 0
    /// Tiles of the deepest zoom whose middle lies in the stated box.
    private var inside = 0
    /// Tiles of the deepest zoom that touch the stated box.
    private var touched = 0

    init(bounds: String?, center: String?) {
        given = bounds
        stated = bounds.flatMap(Self.box)
        statedCenter = center
    }

    /// The zooms of the tiles; `nil` without tiles.
    var zooms: ZoomRange? { span.flatMap { ZoomRange(min: $0.lowerBound, max: $0.upperBound) } }

    /// Adds a tile; tiles come by zoom.
    mutating func add(_ tile: TileID) {
        if span?.upperBound == tile.zoom {
            columns = min(columns.lowerBound, tile.x)...max(columns.upperBound, tile.x)
            rowSpan = min(rowSpan.lowerBound, tile.y)...max(rowSpan.upperBound, tile.y)
        } else {
            (columns, rowSpan) = (tile.x...tile.x, tile.y...tile.y)
            (tiles, inside, touched) = (0, 0, 0)
        }
        span = (span?.lowerBound ?? tile.zoom)...tile.zoom
        tiles += 1
        guard let stated else { return }
        let box = tile.bounds
        let middle = box.center
        let parts = stated.parts
        if parts.contains(where: {
            $0.west...$0.east ~= middle.longitude && $0.south...$0.north ~= middle.latitude
        }) {
            inside += 1
        }
        if parts.contains(where: {
            $0.west < box.east && box.west < $0.east && $0.south < box.north && box.south < $0.north
        }) {
            touched += 1
        }
    }

    /// The rows `bounds` and `center`; `nil` without tiles.
    var rows: (bounds: String, center: String)? {
        guard let zooms, let whole = tileBox(zooms.max) else { return nil }
        let box: BoundingBox
        var text: String?
        if let stated, isKept(stated, in: whole) {
            box = stated
            text = stated.crossesAntimeridian ? nil : given.flatMap(Self.plain)
        } else {
            box = whole
        }
        let edges = box.flatEdges.map(PackageMetadata.degrees).joined(separator: ",")
        return (text ?? edges, center(in: box, zooms))
    }

    private func isKept(_ box: BoundingBox, in whole: BoundingBox) -> Bool {
        guard touched > 0, box.width > 0, box.north > box.south else { return false }
        let isWithin =
            !box.crossesAntimeridian && box.west >= whole.west && box.east <= whole.east && box.south >= whole.south
            && box.north <= whole.north
        // Swapped edges give a box round nearly the whole world, which the tiles at its edges touch too.
        let isOver = box.crossesAntimeridian && box.width <= 180 && touched == tiles
        return isWithin || isOver || inside * 2 >= tiles
    }

    /// What the tiles of the deepest zoom cover.
    private func tileBox(_ zoom: Int) -> BoundingBox? {
        guard let northWest = TileID(zoom: zoom, x: columns.lowerBound, y: rowSpan.lowerBound)?.bounds,
            let southEast = TileID(zoom: zoom, x: columns.upperBound, y: rowSpan.upperBound)?.bounds
        else { return nil }
        // The edges of tiles are never out of range.
        return try? BoundingBox(
            west: northWest.west, south: southEast.south, east: southEast.east, north: northWest.north)
    }

    /// The stated centre if it is a place in the box and a zoom of the tiles; else the middle of the box.
    private func center(in box: BoundingBox, _ zooms: ZoomRange) -> String {
        if let statedCenter, let numbers = Self.numbers(statedCenter), numbers.count == 3,
            let zoom = Int(exactly: numbers[2]), zooms.contains(zoom), box.south...box.north ~= numbers[1],
            box.parts.contains(where: { $0.west...$0.east ~= numbers[0] })
        {
            return Self.plain(statedCenter) ?? numbers.map(PackageMetadata.degrees).joined(separator: ",")
        }
        let middle = box.center
        return PackageMetadata.degrees(middle.longitude) + "," + PackageMetadata.degrees(middle.latitude)
            + ",\(PackageMetadata.overviewZoom(box, zooms))"
    }

    /// The box of a row `bounds`; `nil` for text that is not a box.
    static func box(_ text: String) -> BoundingBox? {
        guard let numbers = numbers(text), numbers.count == 4 else { return nil }
        // Bounds of third parties that are no box are computed.
        return try? BoundingBox(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
    }

    /// A text in which every reader finds the same decimal numbers; `nil` for others.
    private static func plain(_ text: String) -> String? {
        text.utf8.allSatisfy { "0123456789+-.eE, ".utf8.contains($0) } ? text : nil
    }

    private static func numbers(_ text: String) -> [Double]? {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
            Double($0.trimmingCharacters(in: .whitespaces)) ?? .nan
        }
        return numbers.allSatisfy(\.isFinite) ? numbers : nil
    }
}
