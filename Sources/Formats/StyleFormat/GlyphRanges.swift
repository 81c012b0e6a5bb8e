/// The glyph ranges that a client requests, and their names in URLs.
public enum GlyphRanges {
    /// The first code points of the ranges: the Basic Multilingual Plane in steps of 256.
    ///
    /// Without ideographs, ranges that clients draw with the device's own font are left out: unified ideographs
    /// (4E00–9FFF) and Hangul syllables (AC00–D6FF). Clients differ about the rest (older ones leave out kana too,
    /// newer ones more blocks): these 131 of 256 are needed by all of them.
    /// - Source: MapLibre Native `src/mln/util/i18n.cpp`, MapLibre GL JS `allowsFixedWidthGlyphGeneration`.
    public static func starts(ideographs: Bool) -> [Int] {
        stride(from: 0, to: 65_536, by: 256).filter { start in
            ideographs || !((0x4E00...0x9FFF).contains(start) || (0xAC00...0xD6FF).contains(start))
        }
    }

    /// `0-255` for 0.
    public static func name(_ start: Int) -> String { "\(start)-\(start + 255)" }

    /// The URL a client asks for: `{fontstack}` percent-encoded with lower-case digits, `{range}` filled in.
    ///
    /// - Source: MapLibre Native: a key with upper-case digits is not found in its database.
    public static func url(_ template: String, stack: FontStack, start: Int) -> String {
        template.replacing("{fontstack}", with: encoded(stack.joined)).replacing("{range}", with: name(start))
    }

    /// Percent-encodes all but `A–Z a–z 0–9 - _ . ~`.
    package static func encoded(_ text: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x2E, 0x7E: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Fonts in the order of preference; a client asks for all of them in one file.
public struct FontStack: Hashable, Sendable, Comparable {
    /// The fonts' names.
    public let fonts: [String]

    /// The fonts that clients use if a layer names none.
    public static let standard = FontStack(["Open Sans Regular", "Arial Unicode MS Regular"])

    /// Makes a stack of names.
    public init(_ fonts: [String]) { self.fonts = fonts }

    /// The names with commas between them, as they stand in a URL before encoding.
    public var joined: String { fonts.joined(separator: ",") }

    /// By text.
    public static func < (left: FontStack, right: FontStack) -> Bool { left.joined < right.joined }
}
