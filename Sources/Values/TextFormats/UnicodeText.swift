/// Text files in the encodings that editors write.
package enum UnicodeText {
    /// The text in UTF-8 and without a byte order mark.
    ///
    /// UTF-16 is recognised by its mark, or by the zeros of its first two characters; other bytes are taken as they are.
    package static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        let head = Array(bytes.prefix(4))
        guard head.count >= 2 else { return bytes }
        let isLittle: Bool
        var start = 2
        switch (head[0], head[1]) {
        case (0xFF, 0xFE): isLittle = true
        case (0xFE, 0xFF): isLittle = false
        default:
            guard head.count == 4, bytes.count.isMultiple(of: 2) else { return bytes }
            start = 0
            if head[1] == 0, head[3] == 0, head[0] != 0, head[2] != 0 {
                isLittle = true
            } else if head[0] == 0, head[2] == 0, head[1] != 0, head[3] != 0 {
                isLittle = false
            } else {
                return bytes
            }
        }
        let units = stride(from: start, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
