internal import Tiles

extension TileMask {
    /// The part of the world that the mask's deepest tiles take, 0...1; 0 for an empty mask.
    var share: Double {
        guard let zoom = deepestZoom else { return 0 }
        var tiles = 1.0
        for _ in 0..<(2 * zoom) { tiles *= 2 }
        return Double(count(atZoom: zoom)) / tiles
    }
}
