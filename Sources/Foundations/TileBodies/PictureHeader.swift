/// The size of a picture, and whether its colours are those that were drawn.
struct PictureHeader: Equatable {
    /// In pixels.
    let width: Int
    let height: Int
    /// Whether its format does not keep colours; of AVIF this cannot be seen, so it counts as lossy.
    let isLossy: Bool

    /// Reads it of a picture that its scanner has accepted; `nil` where it is not found.
    init?(_ bytes: UnsafeRawBufferPointer, _ format: TileFormat) {
        let found: (width: Int, height: Int)?
        switch format {
        case .png: found = Self.png(bytes)
        case .jpeg: found = Self.jpeg(bytes)
        case .webp: found = Self.webp(bytes)
        case .avif: found = Self.avif(bytes)
        case .mvt, .mlt: return nil
        }
        guard let found else { return nil }
        (width, height) = found
        // A WebP with a chunk "VP8 " is lossy, also one with more chunks around it.
        isLossy = format == .webp ? Self.hasLossyChunk(bytes) : format != .png
    }

    private static func png(_ bytes: UnsafeRawBufferPointer) -> (Int, Int)? {
        guard bytes.count >= 24 else { return nil }
        return (big(bytes, at: 16, count: 4), big(bytes, at: 20, count: 4))
    }

    /// The frame header: the first marker of C0 to CF but C4, C8 and CC.
    private static func jpeg(_ bytes: UnsafeRawBufferPointer) -> (Int, Int)? {
        var place = 2
        while place + 9 < bytes.count, bytes[place] == 0xff {
            let marker = bytes[place + 1]
            if marker == 0xff {
                place += 1
            } else if 0xc0...0xcf ~= marker, ![0xc4, 0xc8, 0xcc].contains(marker) {
                return (big(bytes, at: place + 7, count: 2), big(bytes, at: place + 5, count: 2))
            } else {
                place += 2 + big(bytes, at: place + 2, count: 2)
            }
        }
        return nil
    }

    /// The canvas of VP8X, else the size of VP8L or VP8 (RFC 9649, 2.7 and 3.4; RFC 6386, 9.1).
    private static func webp(_ bytes: UnsafeRawBufferPointer) -> (Int, Int)? {
        guard bytes.count >= 30 else { return nil }
        switch bytes[15] {
        case UInt8(ascii: "X"): return (little(bytes, at: 24, count: 3) + 1, little(bytes, at: 27, count: 3) + 1)
        case UInt8(ascii: "L"):
            let word = little(bytes, at: 21, count: 4)
            return (word & 0x3fff + 1, word >> 14 & 0x3fff + 1)
        default: return (little(bytes, at: 26, count: 2) & 0x3fff, little(bytes, at: 28, count: 2) & 0x3fff)
        }
    }

    private static func hasLossyChunk(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var place = 12
        while place + 8 <= bytes.count {
            let name = bytes[place..<place + 4]
            // A picture with lossless colours has VP8L; animations hold their frames in ANMF.
            if name.elementsEqual("VP8 ".utf8) || name.elementsEqual("ANMF".utf8) { return true }
            let size = little(bytes, at: place + 4, count: 4)
            place += 8 + size + size % 2
        }
        return false
    }

    /// The first property `ispe` (ISO/IEC 23008-12, 6.5.3) within `meta`, `iprp` and `ipco`.
    private static func avif(_ bytes: UnsafeRawBufferPointer) -> (Int, Int)? {
        guard let meta = box("meta", of: bytes), meta.count > 4,
            let properties = box("iprp", of: UnsafeRawBufferPointer(rebasing: meta.dropFirst(4))),
            let list = box("ipco", of: properties), let size = box("ispe", of: list), size.count >= 12
        else { return nil }
        return (big(size, at: 4, count: 4), big(size, at: 8, count: 4))
    }

    /// The content of the first box of a type.
    private static func box(_ type: String, of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var place = 0
        while place + 8 <= bytes.count {
            let size = big(bytes, at: place, count: 4)
            let end = size == 0 ? bytes.count : place + size
            guard size == 0 || size >= 8, end <= bytes.count else { return nil }
            if bytes[place + 4..<place + 8].elementsEqual(type.utf8) {
                return UnsafeRawBufferPointer(rebasing: bytes[place + 8..<end])
            }
            place = end
        }
        return nil
    }

    /// A number of at most four bytes, the highest first.
    private static func big(_ bytes: UnsafeRawBufferPointer, at offset: Int, count: Int) -> Int {
        bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func little(_ bytes: UnsafeRawBufferPointer, at offset: Int, count: Int) -> Int {
        bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
