public import Errors
public import Tiles

extension PMTilesFile {
    /// The most bytes that are read with one call for several bodies.
    private static let longestRead: UInt64 = 1 << 20

    /// The bodies of tiles as they are stored (see ``coding``); those that lie side by side are read with one call.
    ///
    /// - Parameters:
    ///   - tiles: Best in the order of their bodies in the file: ascending, of a clustered file.
    ///   - each: Gets each tile in the order of the list: its body, `nil` when the file has none for it, or `.badTile` for one that is
    ///     too long.
    /// - Throws: ``ArchiveError`` of every other kind.
    public func bodies(
        of tiles: [TileID], each: (TileID, Result<[UInt8]?, ArchiveError>) -> Void
    ) throws(ArchiveError) {
        var places: [Result<Range<UInt64>?, ArchiveError>] = []
        for tile in tiles {
            do throws(ArchiveError) { places.append(.success(try place(of: tile))) } catch {
                guard error.code == .badTile else { throw error }
                places.append(.failure(error))
            }
        }
        var next = 0
        while next < tiles.count {
            guard case .success(let first?) = places[next] else {
                each(tiles[next], places[next].map { _ in nil })
                next += 1
                continue
            }
            var (end, last) = (next + 1, first)
            while end < tiles.count, case .success(let place?) = places[end],
                place == last || place.lowerBound == last.upperBound,
                place.upperBound - first.lowerBound <= Self.longestRead
            {
                last = place
                end += 1
            }
            let bytes = try bytes(in: first.lowerBound..<last.upperBound)
            for index in next..<end {
                guard case .success(let place?) = places[index] else { continue }
                // Within what was read, which is an array in memory.
                let range = Int(place.lowerBound - first.lowerBound)..<Int(place.upperBound - first.lowerBound)
                each(tiles[index], .success(range == bytes.indices ? bytes : Array(bytes[range])))
            }
            next = end
        }
    }
}
