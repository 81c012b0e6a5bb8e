/// The few XML documents of S3 and STS: elements without attributes that matter, text with entities.
///
/// Reads only the requested elements; hostile bytes give no element and never trap.
package struct S3Document {
    private let bytes: ArraySlice<UInt8>

    /// A document, or a part of one.
    package init(_ bytes: [UInt8]) { self.bytes = bytes[...] }
    private init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// The first element of a name, at any depth.
    package func first(_ name: String) -> S3Document? { next(name, from: bytes.startIndex)?.element }

    /// Every element of a name, in order; elements nested in one of them are not searched.
    package func all(_ name: String) -> [S3Document] {
        var found: [S3Document] = []
        var at = bytes.startIndex
        while let (element, end) = next(name, from: at) {
            found.append(element)
            at = end
        }
        return found
    }

    /// The text of the first element of a name.
    package func text(_ name: String) -> String? { first(name)?.text }

    /// The element's text, entities resolved.
    package var text: String {
        var out: [UInt8] = []
        var at = bytes.startIndex
        while at < bytes.endIndex {
            guard bytes[at] == UInt8(ascii: "&"),
                let end = bytes[at...].prefix(12).firstIndex(of: UInt8(ascii: ";")),
                let character = Self.entity(String(decoding: bytes[(at + 1)..<end], as: UTF8.self))
            else {
                out.append(bytes[at])
                at += 1
                continue
            }
            out += Array(String(character).utf8)
            at = end + 1
        }
        return String(decoding: out, as: UTF8.self)
    }

    private func next(_ name: String, from start: Int) -> (element: S3Document, end: Int)? {
        let (open, close) = (Array("<\(name)".utf8), Array("</\(name)>".utf8))
        var at = start
        while at < bytes.endIndex, let range = bytes[at...].firstRange(of: open) {
            at = range.upperBound
            // "<Key" must not find "<KeyCount>".
            guard at < bytes.endIndex, let end = bytes[at...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
            guard bytes[at] == UInt8(ascii: ">") || bytes[at] == UInt8(ascii: " ") || bytes[at] == UInt8(ascii: "/")
            else { continue }
            if bytes[end - 1] == UInt8(ascii: "/") { return (S3Document(bytes[end..<end]), end + 1) }
            guard let closing = bytes[(end + 1)...].firstRange(of: close) else { return nil }
            return (S3Document(bytes[(end + 1)..<closing.lowerBound]), closing.upperBound)
        }
        return nil
    }

    private static func entity(_ name: String) -> Character? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let digits = name.dropFirst()
            let number = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init).map(Character.init)
        }
    }
}
