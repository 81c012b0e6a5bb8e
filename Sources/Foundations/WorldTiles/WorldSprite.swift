internal import Foundation
internal import TileBodies

/// The demo style's icons, drawn by formula: a sheet of three, at either density.
package enum WorldSprite {
    /// An icon: whether a point of the square -1...1 is inside, and its colour.
    private struct Icon {
        let name: String
        let colour: (UInt8, UInt8, UInt8)
        let holds: @Sendable (_ x: Double, _ y: Double) -> Bool
    }

    /// Side of an icon at density 1.
    ///
    /// Unit: pixels.
    static let side = 16

    private static let icons = [
        Icon(name: "country", colour: (0x8A, 0x3B, 0x12)) { x, y in
            // A ring with a dot.
            let far = (x * x + y * y).squareRoot()
            return far < 0.35 || (0.55...0.8).contains(far)
        },
        Icon(name: "place", colour: (0x3C, 0x4B, 0x5C)) { x, y in
            x * x + y * y < 0.3
        },
        Icon(name: "region", colour: (0x2F, 0x6B, 0x52)) { x, y in
            // A diamond.
            abs(x) + abs(y) < 0.8
        },
    ]

    /// The table of a sheet.
    package static func json(density: Int) throws -> [UInt8] {
        let side = side * density
        var table: [String: Entry] = [:]
        for (index, icon) in icons.enumerated() {
            table[icon.name] = Entry(x: index * side, y: 0, width: side, height: side, pixelRatio: density)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        return [UInt8](try encoder.encode(table))
    }

    /// The sheet: a PNG of 8-bit red, green, blue and alpha.
    ///
    /// - Source: PNG specification, third edition, sections 5 and 11.2.
    package static func png(density: Int) -> [UInt8] {
        let (width, height) = (side * density * icons.count, side * density)
        var rows: [UInt8] = []
        for y in 0..<height {
            rows.append(0)  // no filter
            for x in 0..<width {
                let icon = icons[x / height]
                let alpha = coverage(of: icon, x: x % height, y: y, side: height)
                rows += [icon.colour.0, icon.colour.1, icon.colour.2, alpha]
            }
        }
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        appendChunk("IHDR", content: big(UInt32(width)) + big(UInt32(height)) + [8, 6, 0, 0, 0], to: &file)
        appendChunk("IDAT", content: Zlib.compress(rows), to: &file)
        appendChunk("IEND", content: [], to: &file)
        return file
    }

    /// How much of a pixel the icon covers, from 16 points of it.
    private static func coverage(of icon: Icon, x: Int, y: Int, side: Int) -> UInt8 {
        var hits = 0
        for point in 0..<16 {
            let px = (Double(x) + (Double(point % 4) + 0.5) / 4) / Double(side) * 2 - 1
            let py = (Double(y) + (Double(point / 4) + 0.5) / 4) / Double(side) * 2 - 1
            if icon.holds(px, py) { hits += 1 }
        }
        return UInt8(hits * 255 / 16)
    }

    private static func appendChunk(_ type: String, content: [UInt8], to file: inout [UInt8]) {
        let body = Array(type.utf8) + content
        file += big(UInt32(content.count)) + body + big(Zlib.crc32(body))
    }

    private static func big(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private struct Entry: Encodable {
        let x, y, width, height, pixelRatio: Int
    }
}
