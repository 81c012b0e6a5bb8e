internal import Digests
internal import Files

/// The seal of a tree: the SHA-256 of everything in it, kept in `tiles.json`.
///
/// The hash is taken over each tile in the order of zoom, column and row from the north (the bytes of its path, the size of the file in 8
/// bytes, least significant first, the file), and then over `tiles.json` with the 64 digits of the seal read as '0'. So a
/// tree proves itself alone, as the other formats do.
package struct TreeSeal {
    private var hash = DigestHasher()
    private static let mark = Array("\"\(SQLiteSeal.name)\":\"".utf8)

    /// The seal of a tree without files yet.
    package init() {}

    /// Adds the next tile.
    package mutating func add(_ name: String, _ body: [UInt8]) {
        hash.update(Array(name.utf8))
        hash.update((0..<8).map { UInt8(truncatingIfNeeded: UInt64(body.count) >> (8 * $0)) })
        hash.update(body)
    }

    /// The text with the seal of all tiles and of itself; `nil` for a text without a place for it.
    package func sealed(_ text: [UInt8]) -> [UInt8]? {
        guard let place = Self.place(in: text) else { return nil }
        var text = text
        text.replaceSubrange(place, with: SQLiteSeal.blank.utf8)
        var hash = hash
        hash.update(text)
        text.replaceSubrange(place, with: hash.finish().hex.utf8)
        return text
    }

    /// Where the 64 digits stand.
    private static func place(in text: [UInt8]) -> Range<Int>? {
        guard text.count >= mark.count + 65 else { return nil }
        for start in 0...text.count - mark.count - 65 where text[start] == mark[0] {
            let end = start + mark.count
            guard text[start..<end].elementsEqual(mark), text[end + 64] == UInt8(ascii: "\"") else { continue }
            return end..<end + 64
        }
        return nil
    }
}
