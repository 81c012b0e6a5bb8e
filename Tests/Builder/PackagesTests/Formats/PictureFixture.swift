import Foundation
import PackageFiles
import Packages
import TestSupport
import TileBodies
import Tiles

/// Pictures whose structure is whole and whose pixels are noise, and a package of them.
enum NoisePicture {
    /// A PNG.
    static func png(_ random: inout SplitMix, _ side: Int = 256, bytes: Int = 40) -> [UInt8] {
        func big(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            let covered = Array(name.utf8) + content
            return big(content.count) + covered + big(Int(Zlib.crc32(covered)))
        }
        let noise = (0..<bytes).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", big(side) + big(side) + [8, 2, 0, 0, 0]) + chunk("IDAT", noise) + chunk("IEND", [])
    }

    /// A lossless WebP.
    static func webp(_ side: Int = 256) -> [UInt8] {
        let header = UInt32(side - 1) | UInt32(side - 1) << 14
        let content: [UInt8] =
            [0x2F] + (0..<4).map { UInt8(truncatingIfNeeded: header >> (8 * $0)) } + [1, 2, 3, 4, 5]
        let body = Array("WEBPVP8L".utf8) + [UInt8(content.count), 0, 0, 0] + content
        return Array("RIFF".utf8) + [UInt8(body.count), 0, 0, 0] + body
    }

    /// A sealed MBTiles file with a picture for some tiles of each zoom; one picture occurs often.
    ///
    /// - Parameter side: Pixels by zoom.
    static func package(
        _ scratch: Scratch, zooms: ClosedRange<Int> = 0...5, side: (Int) -> Int = { _ in 256 }
    ) throws -> URL {
        var random = SplitMix(state: 5)
        let sea = (0...zooms.upperBound).map { png(&random, side($0)) }
        var tiles: [(Int, Int, Int, [UInt8])] = []
        for zoom in zooms {
            for x in 0..<1 << zoom where x % 3 != 2 || zoom < 2 {
                for row in 0..<(1 << zoom) * 3 / 4 + 1 where row < 1 << zoom {
                    let body = (x + row) % 4 == 0 ? sea[zoom] : png(&random, side(zoom), bytes: 20 + (x * 7 + row) % 50)
                    tiles.append((zoom, x, row, body))
                }
            }
        }
        let foreign = scratch.file("foreign.mbtiles")
        try foreignFile(foreign, [["name", "Hills & <Seas>"], ["format", "png"], ["attribution", "© Demo"]], tiles)
        let url = scratch.file("hills.mbtiles")
        _ = try PackageExport.write(from: foreign, format: .mbtiles, to: url)
        return url
    }
}
