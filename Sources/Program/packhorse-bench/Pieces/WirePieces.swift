import Digests
import Files
import Foundation
import Tiles
import Wire

/// The frame codec, with the two most frequent messages of a job.
struct WirePieces {
    private let frames: [Frame]
    private let bytes: [[UInt8]]

    /// Makes `count` offers, with mask, tileset and sources of the size that a country has, and the same number of
    /// commits.
    init(count: Int, mask: TileMask) throws {
        let tileset = Data(repeating: 0x20, count: 400)
        let cells = Array(mask.tiles(atZoom: 8, under: .root))
        frames = (0..<UInt64(count)).flatMap { number -> [Frame] in
            let cell = cells.isEmpty ? TileID.root : cells[Int(number) % cells.count]
            let digest = Data(Digest(of: Data("\(number)".utf8)).bytes)
            let offer = PBOffer.make {
                $0.token = 1 << 32 | number
                $0.job = 7
                $0.leaseMs = 30_000
                $0.attempt = 1
                $0.fetch = .make {
                    $0.cell = PBTile(cell)
                    $0.zoomMin = 11
                    $0.zoomMax = 14
                    $0.mask = Data(mask.restricted(to: cell).encoded())
                    $0.tiles = 5_440
                    $0.tileset = tileset
                    $0.origin = "127.0.0.1:8080"
                    $0.sources = [digest, digest]
                }
            }
            let commit = PBCommit.make {
                $0.token = 1 << 32 | number
                $0.fetch = .make {
                    $0.shard = digest
                    $0.shardBytes = 12_345_678
                    $0.stored = 5_440
                    $0.distinct = 3_210
                    $0.bodyBytes = 12_000_000
                }
            }
            return [
                Frame(session: 99, seq: number + 1, .offer(offer)),
                Frame(session: 99, seq: number + 1, .commit(commit)),
            ]
        }
        bytes = try frames.map { try $0.encoded() }
    }

    func pieces() -> [Piece] {
        let amount = Double(frames.count) / 1e3
        let baseline = "SHA-256 of the same bytes"
        let hash = { for frame in bytes { _ = Digest(of: frame) } }
        return [
            Piece(
                name: "frame encode", amount: amount, unit: "k frames/s", baseline: baseline, threshold: 0.28,
                run: { for frame in frames { _ = try frame.encoded() } }, runBaseline: hash),
            Piece(
                name: "frame decode", amount: amount, unit: "k frames/s", baseline: baseline, threshold: 0.16,
                run: { for frame in bytes { _ = try Frame(decoding: frame) } }, runBaseline: hash),
        ]
    }
}
