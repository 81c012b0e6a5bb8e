extension TileMask {
    /// The tiles of all masks together, `nil` without masks.
    ///
    /// Joined pairwise, so that many small masks do not each cost a walk over the sum of those before.
    public init?(union masks: [TileMask]) {
        var left = masks
        while left.count > 1 {
            left = stride(from: 0, to: left.count, by: 2).map { index in
                index + 1 < left.count ? left[index].union(left[index + 1]) : left[index]
            }
        }
        guard let only = left.first else { return nil }
        self = only
    }
}
