import Errors
internal import TextFormats

/// Recognises what servers send instead of a tile: web pages, XML and JSON messages, plain text; and other tile types.
enum DocumentSniffer {
    /// The refusal that explains `bytes` best when they are not the declared type, or `nil` when nothing is recognised.
    static func refusal(of bytes: UnsafeRawBufferPointer, declared: TileFormat) -> TileBodiesError? {
        if let document = document(bytes) {
            return TileBodiesError(
                document == .html ? .htmlPage : .wrongType,
                "expected \(Sentence.article(declared.rawValue)) \(declared.rawValue) tile, found \(document.rawValue) that begins with \(opening(bytes))"
            )
        }
        let other = signature(of: bytes) ?? TileFormat(vectorTile: bytes)?.traits.name
        if let other, other != declared.traits.name {
            return TileBodiesError(
                .wrongType, "expected \(Sentence.article(declared.rawValue)) \(declared.rawValue) tile, found \(other)")
        }
        return nil
    }

    private enum Document: String {
        case html = "an HTML page"
        case xml = "an XML document"
        case json = "a JSON document"
        case text = "plain text"
    }

    private static func document(_ bytes: UnsafeRawBufferPointer) -> Document? {
        var start = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        while start < bytes.count, isSpace(bytes[start]) { start += 1 }
        guard start < bytes.count else { return nil }
        let head = bytes[start..<min(bytes.count, start + 1024)]
        switch bytes[start] {
        // The first bytes of a MapLibre tile can be "<" and a control character.
        case UInt8(ascii: "<"): return isHTML(head) ? .html : head.allSatisfy(isPrinted) ? .xml : nil
        case UInt8(ascii: "{"), UInt8(ascii: "["): return isText(head) ? .json : nil
        default: return isText(head) ? .text : nil
        }
    }

    private static func isHTML(_ head: Slice<UnsafeRawBufferPointer>) -> Bool {
        let lower = String(decoding: head, as: UTF8.self).lowercased()
        return ["<!doctype html", "<html", "<head", "<body", "<title", "<h1", "<center", "<script"]
            .contains(where: lower.contains)
    }

    private static func isText(_ head: Slice<UnsafeRawBufferPointer>) -> Bool {
        head.allSatisfy(isPrinted)
            && String(validating: head.dropLast(head.count > 1000 ? 4 : 0), as: UTF8.self) != nil
    }

    private static func isPrinted(_ byte: UInt8) -> Bool { isSpace(byte) || (byte >= 0x20 && byte != 0x7f) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    /// The first printable characters, quoted, for a message.
    private static func opening(_ bytes: UnsafeRawBufferPointer) -> String {
        let text = String(decoding: bytes.prefix(60), as: UTF8.self)
        let shown = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : String($0) }.joined()
        return "\"\(shown)\""
    }

    /// The name of a file type by its first bytes; `nil` for others.
    static func signature(of bytes: UnsafeRawBufferPointer) -> String? {
        if let picture = TileFormat(pictureBeginning: bytes) { return picture.traits.name }
        if bytes.starts(with: Array("GIF8".utf8)) { return "GIF" }
        if bytes.count >= 12, bytes.dropFirst(4).starts(with: Array("ftyp".utf8)) {
            return "an ISO media file (HEIC, MP4)"
        }
        if bytes.starts(with: [0xff, 0x0a]) || bytes.starts(with: [0, 0, 0, 12] + Array("JXL ".utf8)) {
            return "JPEG XL"
        }
        if bytes.starts(with: Array("%PDF".utf8)) { return "PDF" }
        if bytes.starts(with: [0x50, 0x4b, 3, 4]) { return "a ZIP archive" }
        if bytes.starts(with: [0x28, 0xb5, 0x2f, 0xfd]) { return "a Zstandard stream" }
        if bytes.starts(with: [0x1f, 0x8b]) { return "gzip" }
        return nil
    }
}
