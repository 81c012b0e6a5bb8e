import Tiles

/// Bodies of an archive to fetch, ascending by place, and the tiles that have each.
///
/// Two flat lists: a table by place would be hashed twice for each body.
struct WantedBodies: Sendable {
    /// Where the bodies are, ascending, each once.
    private(set) var places: [Range<UInt64>] = []
    private var tiles: [TileID] = []
    /// Where the tiles of each body end.
    private var ends: [Int] = []

    /// - Parameter found: Tiles and where their body is, in any order; the tiles of one body keep theirs.
    init(_ found: [(place: Range<UInt64>, tile: TileID)]) {
        func key(_ place: Range<UInt64>) -> (UInt64, UInt64) { (place.lowerBound, place.upperBound) }
        let isSorted = zip(found, found.dropFirst()).allSatisfy { key($0.place) <= key($1.place) }
        let sorted = isSorted ? found : found.sorted { key($0.place) < key($1.place) }
        tiles.reserveCapacity(sorted.count)
        for (place, tile) in sorted {
            tiles.append(tile)
            if places.last == place {
                ends[ends.count - 1] += 1
            } else {
                places.append(place)
                ends.append(tiles.count)
            }
        }
    }

    /// The tiles that have the body with a number, at least one.
    func tiles(of body: Int) -> ArraySlice<TileID> { tiles[(body > 0 ? ends[body - 1] : 0)..<ends[body]] }
}
