internal import PackageFiles
public import Tiles

extension PackageForecast {
    /// How many files of at most `limit` bytes a package has in each of some formats: the whole package, or its parts.
    ///
    /// For a forecast of one package. The rule of the merge cuts it (``PackageParts``); each tile counts as the mean of its zoom.
    ///
    /// - Parameter mask: The tiles of the package.
    public func parts(of formats: [PackageFormat], mask: TileMask, limit: UInt64) -> Int {
        let deepest = zooms.compactMap { $0.sample.first?.tile.zoom }.max() ?? 0
        let grid = PartSizes.grid(mask, to: deepest)
        let counts = formats.compactMap { format -> Int? in
            guard let layout = format.traits.layout, let size = size(as: format),
                size.value + (size.margin ?? 0) > Double(limit)
            else { return nil }
            let cut = PartCut(
                tiles(of: mask, grid: grid, layout), grid: grid, fixed: UInt64(max(0, layout.fixed(file))), limit: limit
            )
            if let parts = try? cut.parts(limit: limit) { return max(2, parts.count) }
            // A place may not fit when its tiles are larger than the mean; then the build says so.
            return Int(min(1e9, (size.value / Double(limit)).rounded(.up)))
        }
        return counts.max() ?? 1
    }

    /// Bytes that a place counts at most, so that no sum of them overflows.
    private static let mostOfPlace = 1e11

    /// Bytes of the tiles of a mask by zoom and place; a tile of the grid has those of all tiles below it, too.
    private func tiles(of mask: TileMask, grid: Int, _ layout: PackageLayout) -> [Int: [UInt64: UInt64]] {
        var means: [Int: Double] = [:]
        for zoom in zooms {
            guard let number = zoom.sample.first?.tile.zoom else { continue }
            // As in the merge, a body that several tiles have counts in each tile of the grid.
            let sum = zoom.sample.reduce(0) { $0 + bytes(of: $1, layout, file, isAlone: number <= grid) }
            means[number] = sum / Double(zoom.sample.count)
        }
        let below = means.filter { $0.key > grid }.reduce(0) { $0 + $1.value * Double(mask.count(atZoom: $1.key)) }
        means[grid, default: 0] += below / Double(max(1, mask.count(atZoom: grid)))
        var tiles: [Int: [UInt64: UInt64]] = [:]
        for (zoom, mean) in means where zoom <= grid && mean > 0 {
            guard let only = ZoomRange(min: zoom, max: zoom) else { continue }
            for tile in mask.tiles(in: only) {
                tiles[zoom, default: [:]][tile.hilbertPlace] = UInt64(min(mean, Self.mostOfPlace).rounded())
            }
        }
        return tiles
    }
}
