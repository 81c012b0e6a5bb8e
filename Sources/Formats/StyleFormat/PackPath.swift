internal import Digests
internal import Files

/// The paths in a style pack: readable names, which a template (`{fontstack}/{range}`) can produce.
package enum PackPath {
    package static let index = "style-pack.json"
    package static let style = "style.json"
    package static let original = "style.original.json"
    /// What an unfinished run has fetched so far.
    package static let journal = "style-pack.partial"
    /// What rewritten styles say for glyphs.
    package static let glyphTemplate = "glyphs/{fontstack}/{range}.pbf"

    package static func source(_ name: String) -> String { "sources/\(part(name)).json" }
    package static func data(_ name: String) -> String { "data/\(part(name)).geojson" }
    package static func sprite(_ id: String) -> String { "sprites/\(part(id))/sprite" }
    package static func glyphs(_ stack: FontStack, _ start: Int) -> String {
        "glyphs/\(part(stack.joined))/\(GlyphRanges.name(start)).pbf"
    }
    package static func fontFace(_ url: String) -> String { "fonts/\(Digest(of: Array(url.utf8)).hex.prefix(32))" }
    package static func image(_ name: String, _ url: String) -> String {
        let path = url.prefix { $0 != "?" }
        let type = ["png", "jpg", "jpeg", "webp", "gif"].first { path.lowercased().hasSuffix(".\($0)") }
        return "images/\(part(name))" + (type.map { ".\($0)" } ?? "")
    }

    /// A name as one part of a path; different names give different parts.
    ///
    /// Letters, digits, space and `-_,.()` stay; other bytes, a leading dot and a trailing dot or space are written as
    /// `%XX`; a name that is too long ends with its hash.
    package static func part(_ name: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let source = Array(name.utf8)
        var bytes: [UInt8] = []
        for (index, byte) in source.enumerated() {
            let isEdge = index == 0 || index == source.count - 1
            let isPlain: Bool
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: isPlain = true
            case UInt8(ascii: "."), UInt8(ascii: " "): isPlain = !isEdge
            default: isPlain = "-_,()".utf8.contains(byte)
            }
            if isPlain { bytes.append(byte) } else { bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        }
        guard bytes.count <= 160 else {
            return String(decoding: bytes.prefix(100), as: UTF8.self) + "%-" + Digest(of: source).hex.prefix(32)
        }
        return bytes.isEmpty ? "%" : String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a path of an index stays inside its folder.
    package static func isInside(_ path: String) -> Bool {
        // Bytes and not characters: with a combining mark after it, a slash is another character.
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return (1...8).contains(parts.count) && path.utf8.count <= 1_024
            && parts.allSatisfy { part in
                !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
                    && !part.contains { $0 < 0x20 }
            }
    }
}
