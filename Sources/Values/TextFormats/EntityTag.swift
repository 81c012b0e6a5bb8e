/// An entity tag of HTTP (RFC 9110, section 8.8.3).
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// The characters between the quotes.
    package let text: String
    /// Whether equal tags may stand for bytes that differ in details.
    package let isWeak: Bool

    /// A tag of characters that need no escaping: letters, digits, hyphens.
    package init(_ text: String, isWeak: Bool = false) {
        self.text = text
        self.isWeak = isWeak
    }

    /// The form in a header.
    package var description: String { (isWeak ? "W/" : "") + "\"\(text)\"" }
}

/// The value of `If-Match` or `If-None-Match`: every tag, or some.
package enum EntityTags: Sendable, Hashable {
    case any
    case some([EntityTag])

    /// Reads a header; `nil` for a value that breaks the grammar.
    ///
    /// Elements of the list may be empty, as RFC 9110, section 5.6.1.2 demands.
    package init?(_ header: String) {
        var rest = header.utf8[...]
        func skip(_ bytes: [UInt8]) { rest = rest.drop { bytes.contains($0) } }
        skip([0x20, 0x09])
        if rest.first == UInt8(ascii: "*") {
            rest = rest.dropFirst()
            skip([0x20, 0x09])
            guard rest.isEmpty else { return nil }
            self = .any
            return
        }
        var tags: [EntityTag] = []
        while true {
            skip([0x20, 0x09, UInt8(ascii: ",")])
            guard !rest.isEmpty else { break }
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest = rest.dropFirst(2) }
            guard rest.first == UInt8(ascii: "\"") else { return nil }
            rest = rest.dropFirst()
            guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
            let text = rest[..<end]
            guard text.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
            tags.append(EntityTag(String(decoding: text, as: UTF8.self), isWeak: isWeak))
            rest = rest[rest.index(after: end)...]
            skip([0x20, 0x09])
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        }
        guard !tags.isEmpty else { return nil }
        self = .some(tags)
    }

    /// The weak comparison of RFC 9110, section 8.8.3.2: the texts are equal.
    package func matchWeakly(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .some(let tags): tags.contains { $0.text == tag.text }
        }
    }

    /// The strong comparison: the texts are equal, and both tags are strong.
    package func matchStrongly(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .some(let tags): !tag.isWeak && tags.contains(tag)
        }
    }
}
