internal import TextFormats

/// What a map service answers in place of a picture: an exception of a WMS or WMTS as XML or JSON, or an error of ArcGIS.
///
/// Such an answer may have status 200 and the media type of a picture. Only the first 64 KiB are read, once. Sources: OGC 06-042, 7.2.5
/// and annex E.2 (`ServiceExceptionReport`); OGC 06-121r3, 8 (`ExceptionReport`); GeoServer's manual, WMS vendor parameters (JSON).
package struct ServiceMessage: Sendable, Hashable {
    /// The code, or the empty text: `LayerNotDefined`.
    package let code: String
    /// Code and message in one line of at most 160 characters.
    package let text: String

    /// What a code means for a tile.
    package enum Meaning: Sendable {
        /// The tile is beyond the edge of the layer.
        case noTile
        /// The request is wrong for every tile.
        case wrongRequest
        /// Anything else.
        case other
    }

    /// What the code means: OGC 07-057r7, table 24, and OGC 06-042, table E.1.
    package var meaning: Meaning {
        switch code {
        case "TileOutOfRange": .noTile
        case "LayerNotDefined", "StyleNotDefined", "InvalidFormat", "InvalidCRS", "InvalidSRS", "MissingParameterValue",
            "OperationNotSupported", "LayerNotQueryable":
            .wrongRequest
        default: .other
        }
    }

    private static let limit = 64 << 10

    /// Reads a body; `nil` for anything that is no such answer.
    package init?(in body: [UInt8]) {
        let start = body.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let head = body[min(start, body.count)...].prefix(Self.limit)
        switch head.first(where: { !" \t\r\n".utf8.contains($0) }) {
        case UInt8(ascii: "<"): self.init(xml: head)
        case UInt8(ascii: "{"): self.init(json: Array(head))
        default: return nil
        }
    }

    private init(code: String, message: String) {
        self.code = String(code.prefix(60))
        let words = message.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
        let plain = words.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : String($0) }.joined()
        let line = [self.code, plain].filter { !$0.isEmpty }.joined(separator: ": ")
        text = line.isEmpty ? "an exception without a message" : String(line.prefix(160))
    }

    private init?(xml: ArraySlice<UInt8>) {
        var tags = TagReader(xml)
        guard let root = tags.next(), ["ServiceExceptionReport", "ExceptionReport"].contains(root.name) else {
            return nil
        }
        var (code, message) = ("", "")
        while message.isEmpty, let tag = tags.next() {
            guard ["ServiceException", "Exception", "ExceptionText"].contains(tag.name) else { continue }
            if code.isEmpty { code = tag.attribute("exceptionCode") ?? tag.attribute("code") ?? "" }
            if tag.name != "Exception" { message = tags.content() }
        }
        self.init(code: code, message: message)
    }

    private init?(json: [UInt8]) {
        guard case .object(let members)? = JSONValue(json: json) else { return nil }
        if case .array(let items)? = members["exceptions"], case .object(let first)? = items.first {
            self.init(code: Self.word(first["code"]), message: Self.word(first["text"]))
        } else if case .object(let error)? = members["error"], error["code"] != nil || error["message"] != nil {
            self.init(code: Self.word(error["code"]), message: Self.word(error["message"]))
        } else {
            return nil
        }
    }

    private static func word(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text)?: text
        case .number(let number)?: Int(exactly: number).map(String.init) ?? "\(number)"
        default: ""
        }
    }
}

/// The start tags of XML whatever its faults: it may be cut, and have a document type, as exceptions of WMS 1.1.1 do.
private struct TagReader {
    struct Tag {
        /// Without the prefix.
        let name: String
        let text: String

        func attribute(_ name: String) -> String? {
            guard let mark = text.firstRange(of: " \(name)=") ?? text.firstRange(of: "\n\(name)="),
                let quote = text[mark.upperBound...].first, quote == "\"" || quote == "'"
            else { return nil }
            return TagReader.unescaped(String(text[mark.upperBound...].dropFirst().prefix { $0 != quote }))
        }
    }

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) { (self.bytes, position) = (bytes, bytes.startIndex) }

    /// The next start tag; `nil` at the end.
    mutating func next() -> Tag? {
        while let open = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            let isComment = bytes[open...].starts(with: Array("<!--".utf8))
            guard let close = isComment ? after("-->", from: open) : after(">", from: open) else { return nil }
            position = close
            let text = String(decoding: bytes[(open + 1)..<(close - 1)], as: UTF8.self)
            guard let first = text.first, first.isLetter || first == "_" else { continue }
            let full = text.prefix { !$0.isWhitespace && $0 != "/" }
            return Tag(name: full.split(separator: ":").last.map(String.init) ?? "", text: text)
        }
        return nil
    }

    /// The text after the last tag, up to the next one.
    mutating func content() -> String {
        let rest = bytes[position...]
        let spaces = rest.prefix { " \t\r\n".utf8.contains($0) }
        let section = Array("<![CDATA[".utf8)
        if rest[spaces.endIndex...].starts(with: section) {
            let start = spaces.endIndex + section.count
            let end = after("]]>", from: start).map { $0 - 3 } ?? bytes.endIndex
            position = end
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
        return Self.unescaped(String(decoding: rest.prefix { $0 != UInt8(ascii: "<") }, as: UTF8.self))
    }

    /// Where the bytes go on after a mark.
    private func after(_ mark: String, from start: Int) -> Int? {
        let wanted = Array(mark.utf8)
        var place = start
        while let found = bytes[place...].firstIndex(of: wanted[0]) {
            if bytes[found...].starts(with: wanted) { return found + wanted.count }
            place = found + 1
        }
        return nil
    }

    private static func unescaped(_ text: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")]
            .reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
