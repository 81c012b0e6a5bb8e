import Errors
import Foundation

/// Reads XML as events, one at a time, with little memory whatever the size of the file.
///
/// A part of XML 1.0 that needs nothing but the file: elements, attributes, text, CDATA, comments and processing instructions; the
/// five entities and numbered ones. A document type is refused, for entities that it declares could unpack without bound or read other files.
/// Depth, names, attributes and values are bounded.
package final class XMLScanner {
    /// What comes next in the document.
    package enum Event {
        /// The start tag of an element; ``XMLScanner/name`` and its attributes are those of it.
        case start
        /// The end tag of an element, also of an empty one.
        case end
        /// A piece of text: a long one comes in several.
        case text
        /// The end of the document, whose elements are all closed.
        case finished
    }

    static let depthLimit = 128
    static let nameLimit = 256
    static let attributeLimit = 128
    static let valueLimit = 64 << 10
    /// The most of a CDATA section.
    static let sectionLimit = 64 << 20
    /// A piece of text has about so many bytes.
    private static let pieceBytes = 32 << 10

    private let input: AreaInput
    /// The name of the element of the last start or end, without its prefix.
    package private(set) var name: [UInt8] = []
    /// The piece of text of the last event; empty unless ``keepsText``.
    package private(set) var text: [UInt8] = []
    /// Whether text is read and not only stepped over.
    package var keepsText = false
    /// How many elements are open; the element of a start counts, that of an end does not.
    private(set) var depth = 0
    private(set) var encoding = "utf-8"

    /// Open elements: their names with prefixes, one after another, and where each begins.
    private var open: [UInt8] = []
    private var starts: [Int] = []
    private var attributes = XMLAttributes()
    /// The last name that was read, with its prefix.
    private var word: [UInt8] = []
    private var value: [UInt8] = []
    private var endsAtOnce = false
    private var hasRoot = false

    /// A scanner at the start of a document.
    ///
    /// - Throws: ``AreaFileError`` when the first bytes cannot be read, or are not text.
    package init(_ input: AreaInput) throws(AreaFileError) {
        self.input = input
        try input.beginText()
    }

    var line: Int { input.line }

    /// An error that names the line at which the scanner is.
    package func fault(_ what: String) -> AreaFileError { .line(input.line, what) }

    /// The value of an attribute of the last start, by its name without prefix.
    package func attribute(_ name: StaticString) -> ArraySlice<UInt8>? { attributes.value(name) }

    /// The next event.
    ///
    /// - Throws: ``AreaFileError`` `.badArea` with the line for what is not well-formed, has a document type, or is beyond a limit.
    package func next() throws(AreaFileError) -> Event {
        text.removeAll(keepingCapacity: true)
        if endsAtOnce {
            endsAtOnce = false
            close()
            return .end
        }
        while true {
            if depth > 0, !keepsText {
                guard try input.skip(to: UInt8(ascii: "<")) else { throw cut() }
            }
            guard let byte = try input.peek() else {
                if depth > 0 { throw cut() }
                guard hasRoot else { throw fault("the XML has no element") }
                return .finished
            }
            if byte == UInt8(ascii: "<") {
                if !text.isEmpty { return .text }
                if let event = try markup() { return event }
            } else if depth == 0 {
                guard NumberText.isSpace(byte) else { throw fault("text is outside of the XML's element") }
                _ = try input.next()
            } else {
                try character()
                if text.count >= Self.pieceBytes { return .text }
            }
        }
    }

    private func cut() -> AreaFileError {
        let name = String(decoding: open[(starts.last ?? 0)...], as: UTF8.self)
        return depth > 0 ? fault("the file ends inside <\(name)>") : fault("the file ends inside the XML")
    }

    private func take() throws(AreaFileError) -> UInt8 {
        guard let byte = try input.next() else { throw cut() }
        return byte
    }

    private func character() throws(AreaFileError) {
        let byte = try take()
        if byte == UInt8(ascii: "&") { return try entity(into: &text) }
        text.append(byte)
    }

    /// Reads what begins with `<`; `nil` for what is no event.
    private func markup() throws(AreaFileError) -> Event? {
        _ = try input.next()
        switch try input.peek() {
        case UInt8(ascii: "?"):
            try instruction()
            return nil
        case UInt8(ascii: "!"):
            _ = try input.next()
            try declaration()
            return nil
        case UInt8(ascii: "/"):
            _ = try input.next()
            try endTag()
            return .end
        default:
            try startTag()
            return .start
        }
    }

    private func startTag() throws(AreaFileError) {
        guard depth > 0 || !hasRoot else { throw fault("the XML has a second element beside its first") }
        guard depth < Self.depthLimit else { throw fault("the XML is nested deeper than \(Self.depthLimit) elements") }
        hasRoot = true
        starts.append(open.count)
        try readName()
        open += word
        setName(word[...])
        depth += 1
        attributes.removeAll()
        while true {
            let hadSpace = try skipSpace()
            switch try input.peek() {
            case UInt8(ascii: ">"):
                _ = try input.next()
                return
            case UInt8(ascii: "/"):
                _ = try input.next()
                guard try take() == UInt8(ascii: ">") else { throw fault("'/' is not followed by '>'") }
                endsAtOnce = true
                return
            default:
                guard hadSpace else { throw fault("<\(String(decoding: name, as: UTF8.self)) is not ended by '>'") }
                try attribute()
            }
        }
    }

    private func attribute() throws(AreaFileError) {
        guard attributes.count < Self.attributeLimit else {
            throw fault("an element has more than \(Self.attributeLimit) attributes")
        }
        try readName()
        _ = try skipSpace()
        guard try take() == UInt8(ascii: "=") else { throw fault("an attribute has no value") }
        _ = try skipSpace()
        let quote = try take()
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw fault("the value of an attribute is not in quotes")
        }
        value.removeAll(keepingCapacity: true)
        while true {
            let byte = try take()
            if byte == quote { break }
            if byte == UInt8(ascii: "<") { throw fault("the value of an attribute contains '<'") }
            if byte == UInt8(ascii: "&") { try entity(into: &value) } else { value.append(byte) }
            guard value.count <= Self.valueLimit else {
                throw fault("the value of an attribute has more than \(Self.valueLimit) bytes")
            }
        }
        guard attributes.add(word, value) else {
            throw fault("the attribute '\(String(decoding: word, as: UTF8.self))' is there twice")
        }
    }

    private func endTag() throws(AreaFileError) {
        try readName()
        _ = try skipSpace()
        guard try take() == UInt8(ascii: ">") else { throw fault("an end tag is not ended by '>'") }
        guard let start = starts.last, open[start...].elementsEqual(word) else {
            let expected = starts.last.map { "</\(String(decoding: open[$0...], as: UTF8.self))>" } ?? "nothing"
            throw fault("</\(String(decoding: word.prefix(60), as: UTF8.self))> ends an element; expected \(expected)")
        }
        close()
    }

    private func close() {
        let start = starts.popLast() ?? 0
        setName(open[start...])
        open.removeSubrange(start...)
        depth -= 1
    }

    private func setName(_ full: ArraySlice<UInt8>) {
        name.removeAll(keepingCapacity: true)
        name += full.lastIndex(of: UInt8(ascii: ":")).map { full[($0 + 1)...] } ?? full
    }

    /// Reads a name into ``word``.
    private func readName() throws(AreaFileError) {
        word.removeAll(keepingCapacity: true)
        while let byte = try input.peek(), Self.isName(byte) {
            word.append(byte)
            _ = try input.next()
            guard word.count <= Self.nameLimit else {
                throw fault("a name of the XML has more than \(Self.nameLimit) bytes")
            }
        }
        guard !word.isEmpty else {
            guard try input.peek() != nil else { throw cut() }
            throw fault("the XML has no name where one is expected")
        }
    }

    private static func isName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x3A).contains(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    private func skipSpace() throws(AreaFileError) -> Bool {
        var found = false
        while let byte = try input.peek(), NumberText.isSpace(byte) {
            _ = try input.next()
            found = true
        }
        return found
    }

    /// `&amp;`, `&#65;`, `&#x41;`, after their first byte.
    private func entity(into bytes: inout [UInt8]) throws(AreaFileError) {
        var name: [UInt8] = []
        while true {
            let byte = try take()
            if byte == UInt8(ascii: ";") { break }
            name.append(byte)
            guard name.count <= 12 else { throw fault("'&' begins no entity") }
        }
        let text = String(decoding: name, as: UTF8.self)
        switch text {
        case "amp": bytes.append(UInt8(ascii: "&"))
        case "lt": bytes.append(UInt8(ascii: "<"))
        case "gt": bytes.append(UInt8(ascii: ">"))
        case "quot": bytes.append(UInt8(ascii: "\""))
        case "apos": bytes.append(UInt8(ascii: "'"))
        default:
            let digits = text.dropFirst(text.hasPrefix("#x") ? 2 : 1)
            guard text.hasPrefix("#"), let code = UInt32(digits, radix: text.hasPrefix("#x") ? 16 : 10),
                code > 0, let scalar = Unicode.Scalar(code)
            else { throw fault("the entity '&\(text);' is unknown; only the five of XML and numbers are read") }
            bytes += Array(String(Character(scalar)).utf8)
        }
    }

    /// `<!-- -->` and `<![CDATA[ ]]>`, after their first two bytes.
    private func declaration() throws(AreaFileError) {
        let start = Array(try input.ahead(7))
        if start.starts(with: Array("--".utf8)) {
            for _ in 0..<2 { _ = try input.next() }
            _ = try through("--", keeping: 0)
            guard try take() == UInt8(ascii: ">") else { throw fault("a comment contains '--'") }
        } else if start.elementsEqual(Array("[CDATA[".utf8)), depth > 0 {
            for _ in 0..<7 { _ = try input.next() }
            let limit = keepsText ? Self.sectionLimit : 0
            let section = try through("]]>", keeping: limit)
            guard limit == 0 || section.count <= limit else {
                throw fault("a CDATA section has more than \(limit >> 20) MiB")
            }
            text += section
        } else {
            throw fault("the XML has a document type or a declaration, which is refused: it could name other files")
        }
    }

    /// `<?xml …?>` and other instructions.
    private func instruction() throws(AreaFileError) {
        let content = try through("?>", keeping: 512)
        guard !hasRoot, content.starts(with: Array("?xml".utf8)) else { return }
        let text = String(decoding: content, as: UTF8.self)
        guard let mark = text.range(of: "encoding") else { return }
        let value = text[mark.upperBound...].drop { $0 == " " || $0 == "=" || $0 == "\t" }
        guard let quote = value.first, quote == "\"" || quote == "'" else { return }
        encoding = value.dropFirst().prefix { $0 != quote }.lowercased()
    }

    /// Takes everything up to and including a mark.
    ///
    /// - Returns: What is before it, at most one byte more than asked for.
    private func through(_ mark: StaticString, keeping limit: Int) throws(AreaFileError) -> [UInt8] {
        let wanted = Array(UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount))
        var kept: [UInt8] = []
        var held: [UInt8] = []
        while true {
            held.append(try take())
            if held == wanted { return kept }
            if held.count == wanted.count {
                let first = held.removeFirst()
                if kept.count < limit + (limit > 0 ? 1 : 0) { kept.append(first) }
            }
        }
    }
}

extension XMLScanner {
    /// Bytes of the file as text, in its encoding as far as that matters for names.
    package func string(_ bytes: [UInt8]) -> String {
        switch encoding {
        case "iso-8859-1", "iso-8859-15", "latin1", "windows-1252":
            String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: String(decoding: bytes, as: UTF8.self)
        }
    }
}

/// The attributes of one element, in memory that is used again for the next one.
private struct XMLAttributes {
    private var bytes: [UInt8] = []
    private var parts: [(name: Range<Int>, value: Range<Int>)] = []

    var count: Int { parts.count }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
    }

    /// - Returns: `false` when the name, with its prefix, is there already.
    mutating func add(_ name: [UInt8], _ value: [UInt8]) -> Bool {
        guard !parts.contains(where: { bytes[$0.name].elementsEqual(name) }) else { return false }
        let start = bytes.count
        bytes += name
        let middle = bytes.count
        bytes += value
        parts.append((start..<middle, middle..<bytes.count))
        return true
    }

    func value(_ name: StaticString) -> ArraySlice<UInt8>? {
        let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        for part in parts {
            let full = bytes[part.name]
            let local = full.lastIndex(of: UInt8(ascii: ":")).map { full[($0 + 1)...] } ?? full
            if local.elementsEqual(wanted) { return bytes[part.value] }
        }
        return nil
    }
}
