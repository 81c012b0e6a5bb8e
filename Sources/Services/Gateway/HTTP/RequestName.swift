internal import TextFormats

/// Names of requests, in their answers and in the log.
enum RequestName {
    /// A name that no other request has: a random UUID (RFC 9562, version 4).
    ///
    /// Foundation's UUID opens a device for each.
    static func new() -> String {
        let (high, low) = (UInt64.random(in: 0...(.max)), UInt64.random(in: 0...(.max)))
        let version = high & ~0xF000 | 0x4000
        let variant = low & ~(3 << 62) | 1 << 63
        let digits = Hexadecimal.text(
            (0..<16).map { place in
                UInt8(truncatingIfNeeded: (place < 8 ? version : variant) >> UInt64(56 - 8 * (place % 8)))
            }
        ).utf8
        var text = ""
        var rest = digits[...]
        for count in [8, 4, 4, 4, 12] {
            if !text.isEmpty { text += "-" }
            text += Substring(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return text
    }
}
