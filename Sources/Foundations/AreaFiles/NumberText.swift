/// Numbers as files of areas write them: `25.5`, `-2.62E+01`, `.5`.
enum NumberText {
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// The finite number that fills a text; `nil` for anything else.
    ///
    /// Up to 15 digits take the quick way, which is exact: whole numbers and powers of ten below these bounds are doubles.
    static func number(_ text: ArraySlice<UInt8>) -> Double? {
        var index = text.startIndex
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative || text.first == UInt8(ascii: "+") { index += 1 }
        var (mantissa, digits, decimals) = (0, 0, 0)
        var hasPoint = false
        while index < text.endIndex {
            let byte = text[index]
            if byte >= 0x30, byte <= 0x39 {
                guard digits < 15 else { return slow(text) }
                mantissa = mantissa * 10 + Int(byte - 0x30)
                digits += 1
                if hasPoint { decimals += 1 }
            } else if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
            } else {
                return slow(text)
            }
            index += 1
        }
        guard digits > 0 else { return nil }
        let value = Double(mantissa) / powers[decimals]
        return isNegative ? -value : value
    }

    private static func slow(_ text: ArraySlice<UInt8>) -> Double? {
        guard text.count <= 400, text.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }),
            let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite
        else { return nil }
        return value
    }

    /// Whether a byte parts words: a space, a tab or the end of a line.
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x09 && byte <= 0x0D }

    /// The words of a line.
    static func words(_ line: [UInt8]) -> [ArraySlice<UInt8>] { line.split(whereSeparator: isSpace) }
}
