internal import Foundation

/// The path of a request, decoded segment by segment.
///
/// No two texts of a segment mean the same file: a segment is decoded once, and `.`, `..`, slashes, backslashes and
/// control characters inside of it are refused, and so is text that is not in the Unicode normal form C.
package struct RequestPath: Sendable, Hashable {
    /// The segments between the slashes; the last one is empty for a path that ends in a slash.
    package let segments: [String]
    /// What follows the question mark; `nil` without one.
    package let query: String?

    /// The longest path with its query that is read, in bytes.
    package static let maxBytes = 8_192

    /// Reads the target of a request, in the origin form or the absolute form of RFC 9112, section 3.2.
    ///
    /// - Returns: `nil` for a target that is no path, or has a segment that is refused.
    package init?(_ target: String) {
        guard target.utf8.count <= Self.maxBytes else { return nil }
        var rest = target[...]
        if !rest.hasPrefix("/") {
            guard let scheme = rest.range(of: "://"),
                ["http", "https"].contains(rest[..<scheme.lowerBound].lowercased())
            else { return nil }
            let after = rest[scheme.upperBound...]
            rest = after.firstIndex { $0 == "/" || $0 == "?" }.map { after[$0...] } ?? "/"
        }
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        query =
            path.endIndex < rest.endIndex && rest[path.endIndex] == "?"
            ? String(rest[path.endIndex...].dropFirst()) : nil
        var segments: [String] = []
        for part in path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = Self.decoded(part) else { return nil }
            segments.append(segment)
        }
        // Only the end of a path may be empty.
        guard segments.dropLast().allSatisfy({ !$0.isEmpty }) else { return nil }
        self.segments = segments
    }

    /// The segments as a path without escapes.
    package var text: String { "/" + segments.joined(separator: "/") }

    /// The first value of a parameter of the query; `nil` when it is not given.
    package func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The parameters of the query, at most 64, in their order.
    package var parameters: [(name: String, value: String)] {
        (query ?? "").utf8.split(separator: UInt8(ascii: "&"), maxSplits: 64).prefix(64).compactMap { pair in
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            let name = Self.unescaped(pair[..<(equals ?? pair.endIndex)], plusIsSpace: true)
            let value = equals.map { Self.unescaped(pair[pair.index(after: $0)...], plusIsSpace: true) } ?? ""
            guard let name, let value else { return nil }
            return (name, value)
        }
    }

    private static func decoded(_ part: Substring.UTF8View) -> String? {
        guard let text = unescaped(part, plusIsSpace: false), text != ".", text != "..",
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }),
            isNormal(text)
        else { return nil }
        return text
    }

    /// Whether no other text with this normal form is equal to it: a `String` with the Kelvin sign equals one with K.
    private static func isNormal(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 < 0x80 } || text.utf8.elementsEqual(text.precomposedStringWithCanonicalMapping.utf8)
    }

    /// Undoes percent escapes; `nil` for a damaged escape and for bytes that are not UTF-8.
    private static func unescaped(_ part: Substring.UTF8View, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(part.count)
        var rest = part
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
