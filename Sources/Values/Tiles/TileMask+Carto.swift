public import Errors

extension TileMask {
    /// The most nodes a CARTO text is written with, about 5.6 MB; deeper trees are clipped until they fit.
    static let cartoNodeLimit: UInt64 = 1 << 24

    /// The mask as CARTO clients read it, without a zoom: see ``cartoText(clipZoom:)``, clipped at ``maxZoom``.
    public var cartoText: String { cartoText(clipZoom: maxZoom) }

    /// The mask as it stands in packages.json, `text:maxZoom`.
    public var cartoWire: String { "\(cartoText):\(maxZoom)" }

    /// ``cartoText`` in the alphabet for URLs: `-` and `_` instead of `+` and `/`.
    public var cartoURLText: String { Self.urlSafe(cartoText) }

    /// The mask as CARTO's encoder writes it: nodes before their children, two bits each (has children, is inside).
    ///
    /// A tile at `clipZoom` is written as a leaf, which stands for everything below it; four children that are such leaves
    /// make their parent one; four absent children are kept. `clipZoom` is moved into 0...``maxZoom``, and lowered further
    /// while the tree has more than 2^24 nodes.
    ///
    /// - Source: CartoDB/mobile-sdk, packagemanager/PackageTileMask.cpp, commit f7ce64c9.
    public func cartoText(clipZoom: Int) -> String {
        var clipped = clipped(toZoom: max(0, min(maxZoom, clipZoom)))
        while clipped.maxZoom > 0, clipped.cartoNodes(clipped.root, 0) > Self.cartoNodeLimit {
            clipped = clipped.clipped(toZoom: clipped.maxZoom - 1)
        }
        var writer = MaskBitWriter()
        clipped.writeCarto(clipped.root, 0, to: &writer)
        return CartoAlphabet.text(writer.padded)
    }

    private func writeCarto(_ node: MaskNode, _ zoom: Int, to writer: inout MaskBitWriter) {
        if !node.isPresent { return writer.write(0, bits: 2) }
        if node.isUniform && node.depth == maxZoom { return writer.write(1, bits: 2) }
        writer.write(3, bits: 2)
        for quadrant in 0..<4 {
            writeCarto(child(quadrant, of: node, zoom: zoom), zoom + 1, to: &writer)
        }
    }

    private func cartoNodes(_ node: MaskNode, _ zoom: Int) -> UInt64 {
        if node.isFlat { return 5 }
        if node.isUniform {
            // Complete to a zoom above maxZoom: every tile down to there, and four absent children for each of the last.
            return node.isPresent && node.depth < maxZoom
                ? HilbertCurve.firstID(ofZoom: node.depth - zoom + 2) : 1
        }
        return (0..<4).reduce(1) { $0 + cartoNodes(groups[node.group + $1], zoom + 1) }
    }

    static func urlSafe(_ text: String) -> String {
        String(decoding: text.utf8.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }, as: UTF8.self)
    }

    /// Reads a CARTO mask: bare (then of maxZoom 14), with `:maxZoom`, or in the alphabet for URLs.
    ///
    /// Nodes below maxZoom are read and left out. A node that is outside but has descendants inside (no encoder writes
    /// one) is included, because a mask contains the parent of each of its tiles. Trailing `=` and all text after the
    /// end of the tree are ignored, as in the client. Safe on hostile text.
    ///
    /// - Throws: ``TilesError`` `.badMask`.
    public init(cartoText text: String) throws(TilesError) {
        self = try CartoTree(text).mask
    }
}

/// The 64 characters of a CARTO mask.
enum CartoAlphabet {
    private static let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Six bits a character, filled up with zero bits to a multiple of four characters.
    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let word = (0..<3).reduce(0) { $0 << 8 | (start + $1 < bytes.count ? Int(bytes[start + $1]) : 0) }
            for shift in [18, 12, 6, 0] { text.append(characters[word >> shift & 63]) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The six bits of a character of either alphabet, `nil` for any other.
    static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x41...0x5A: character - 0x41
        case 0x61...0x7A: character - 0x61 + 26
        case 0x30...0x39: character - 0x30 + 52
        case 0x2B, 0x2D: 62
        case 0x2F, 0x5F: 63
        default: nil
        }
    }
}
