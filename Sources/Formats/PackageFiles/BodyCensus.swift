package import Digests
internal import Files
package import Foundation
internal import TileBodies
internal import Tiles

/// The most frequent bodies of a file of tiles, from all its tiles or, of a large file, from a fixed sample of them.
package enum BodyCensus {
    /// How many tiles are looked at.
    private static let limit: UInt64 = 100_000

    /// Reads the bodies.
    ///
    /// - Parameter tiles: About how many tiles the file has.
    /// - Throws: ``ArchiveError``, ``PackagesError`` for a file that cannot be read.
    package static func frequent(in url: URL, tiles: UInt64) throws -> [FrequentBody] {
        guard let archive = try TileArchives.readable(url) else { return [] }
        let sample = TileSample(of: tiles, most: limit)
        var chosen: [(tile: TileID, record: TileRecord)] = []
        func choose(_ tile: TileID, _ reference: UInt64, _ length: UInt64) {
            // A file can have more tiles than were counted.
            guard sample.contains(tile.hilbertID), UInt64(chosen.count) < 2 * limit else { return }
            chosen.append((tile, TileRecord(order: 0, reference: reference, length: length)))
        }
        try archive.tiles(strange: { _, _ in }, choose)
        // In files of other programs one reference can stand for many bodies.
        let goesByReference = try archive.facts().goesByReference
        var known: [UInt64: (digest: Digest, bytes: Int)] = [:]
        var tally = BodyTally()
        for (tile, record) in chosen {
            if goesByReference, let body = known[record.reference] {
                tally.add(body.digest, bytes: body.bytes)
            } else if case .bytes(let bytes) = try archive.body(record, of: tile) {
                let digest = Digest(of: bytes)
                if goesByReference { known[record.reference] = (digest, bytes.count) }
                tally.add(digest, bytes: bytes.count)
            }
        }
        return tally.frequent
    }
}
