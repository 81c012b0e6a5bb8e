import Digests
import Files
import Foundation
import PackageFiles
import Packages
import TestSupport
import Testing
import Tiles

/// What a patch costs beyond the bodies that changed (the table in docs/rebuilds-and-patches.md).
@Suite(.serialized)
struct PatchBytesTests {
    private struct Row {
        let format: String
        let body: Int
        let changed: Int
        let whole: UInt64
        let bodies: UInt64
        let patch: UInt64

        var text: String {
            let ratio = bodies > 0 ? String(format: "%.2f", Double(patch) / Double(bodies)) : "-"
            return "| \(format) | \(body) | \(changed) % | \(whole) | \(bodies) | \(patch) | \(ratio) |"
        }
    }

    /// 5,461 tiles, zooms 0 to 6, with bodies of half to one and a half of a size; changed tiles are spread evenly.
    private func version(_ name: String, _ body: Int, changed: Int, in scratch: Scratch) throws -> (URL, URL) {
        var tiles: [(Int, Int, Int, [UInt8])] = []
        for zoom in 0...6 {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom {
                    let number = tiles.count
                    // 67 and 100 have no common divisor: each hundred tiles has `changed` that change.
                    var random = SplitMix(state: UInt64(number * 2 + (number * 67 % 100 < changed ? 1 : 0)))
                    // A letter of six bits takes about three quarters of a byte.
                    let letters = body * 2 / 3 + Int(random.next() % UInt64(body * 4 / 3))
                    tiles.append((zoom, column, row, vectorTile(noise(max(1, letters - 100), &random))))
                }
            }
        }
        let foreign = scratch.file("\(name).foreign")
        try foreignFile(foreign, [["format", "pbf"], ["name", "bytes"]], tiles)
        let files = (scratch.file("\(name).mbtiles"), scratch.file("\(name).pmtiles"))
        _ = try PackageExport.write(from: foreign, format: .mbtiles, to: files.0)
        _ = try PackageExport.write(from: foreign, format: .pmtiles, to: files.1)
        return files
    }

    @Test(arguments: [500, 2_000, 8_000])
    func aPatchIsLittleMoreThanTheChangedBodies(body: Int) throws {
        let scratch = try Scratch()
        let old = try version("old", body, changed: 0, in: scratch)
        for changed in [0, 3, 20] {
            let new = try version("new\(changed)", body, changed: changed, in: scratch)
            for (format, old, new) in [("MBTiles", old.0, new.0), ("PMTiles", old.1, new.1)] {
                let made = try Patch.make(
                    old: old, new: new, into: scratch.file("patch"), replacing: true)
                let whole = try Digest.ofFile(new)
                let applied = try Patch.apply(
                    scratch.file("patch"), to: old, into: scratch.file("result"), replacing: true,
                    expecting: whole.digest)
                #expect(applied.size == whole.size)
                let row = Row(
                    format: format, body: body, changed: changed, whole: whole.size, bodies: made.counts.bodyBytes,
                    patch: made.size)
                print(row.text)
                #expect(
                    changed == 0 ? made.size < 10_000 : Double(made.size) <= 1.3 * Double(made.counts.bodyBytes),
                    "\(row.text)")
            }
        }
    }
}
