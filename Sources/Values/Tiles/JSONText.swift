import Errors

/// A JSON value as far as areas need it: a list of numbers is kept flat.
package enum JSONText: Sendable {
    case object([String: JSONText])
    case list([JSONText])
    case numbers([Double])
    case string(String)
    case number(Double)
    /// A boolean, null, or a list of different values.
    case other
}

/// Reads JSON strictly (RFC 8259) and never traps: depth limited, numbers finite, no text after the value.
struct JSONTextReader {
    /// GeoJSON needs about eight; collections in collections take two more each.
    static let maxDepth = 64

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func read(_ bytes: [UInt8]) throws(TilesError) -> JSONText {
        var reader = JSONTextReader(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.failure("the end of the text") }
        return value
    }

    private func failure(_ expected: String) -> TilesError {
        guard position < bytes.count else {
            return TilesError(.badGeometry, "GeoJSON ends at byte \(position); expected \(expected).")
        }
        let byte = bytes[position]
        let found = byte > 0x20 && byte < 0x7F ? "'\(Unicode.Scalar(byte))'" : "byte \(byte)"
        return TilesError(.badGeometry, "GeoJSON has \(found) at byte \(position); expected \(expected).")
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(TilesError) -> JSONText {
        guard depth < Self.maxDepth else {
            throw TilesError(.badGeometry, "GeoJSON is nested deeper than \(Self.maxDepth) levels at byte \(position).")
        }
        skipSpace()
        guard position < bytes.count else { throw failure("a value") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try list(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true")
        case UInt8(ascii: "f"): return try word("false")
        case UInt8(ascii: "n"): return try word("null")
        default: return .number(try number())
        }
    }

    private mutating func word(_ word: StaticString) throws(TilesError) -> JSONText {
        for offset in 0..<word.utf8CodeUnitCount where !skip(word.utf8Start[offset]) { throw failure("'\(word)'") }
        return .other
    }

    private mutating func object(depth: Int) throws(TilesError) -> JSONText {
        position += 1
        var members: [String: JSONText] = [:]
        skipSpace()
        if skip(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw failure("a member name") }
            let name = try string()
            skipSpace()
            guard skip(UInt8(ascii: ":")) else { throw failure("':'") }
            members[name] = try value(depth: depth + 1)
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "}")) else { throw failure("',' or '}'") }
        return .object(members)
    }

    private mutating func list(depth: Int) throws(TilesError) -> JSONText {
        position += 1
        skipSpace()
        if skip(UInt8(ascii: "]")) { return .list([]) }
        if position < bytes.count, Self.beginsNumber(bytes[position]) { return try numbers(depth: depth) }
        var values: [JSONText] = []
        repeat {
            values.append(try value(depth: depth + 1))
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "]")) else { throw failure("',' or ']'") }
        return .list(values)
    }

    /// A list that begins with a number.
    ///
    /// A list with other elements is not used in GeoJSON and is read as `other`.
    private mutating func numbers(depth: Int) throws(TilesError) -> JSONText {
        var numbers: [Double] = []
        var isPure = true
        repeat {
            skipSpace()
            if position < bytes.count, Self.beginsNumber(bytes[position]) {
                numbers.append(try number())
            } else {
                _ = try value(depth: depth + 1)
                isPure = false
            }
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "]")) else { throw failure("',' or ']'") }
        return isPure ? .numbers(numbers) : .other
    }

    private static func beginsNumber(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte)
    }

    private mutating func digits() -> Int {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        return position - start
    }

    private mutating func number() throws(TilesError) -> Double {
        let start = position
        _ = skip(UInt8(ascii: "-"))
        let first = position
        let count = digits()
        guard count > 0, count == 1 || bytes[first] != 0x30 else { throw failure("a number") }
        if skip(UInt8(ascii: ".")), digits() == 0 { throw failure("a digit") }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            if digits() == 0 { throw failure("a digit") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let number = Double(text), number.isFinite else {
            throw TilesError(
                .badGeometry, "GeoJSON has the number \(text.prefix(40)); expected a number in the range of a double.")
        }
        return number
    }

    private mutating func string() throws(TilesError) -> String {
        position += 1
        let start = position
        var isEscaped = false
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            if bytes[position] < 0x20 { throw failure("a string without control characters") }
            if bytes[position] == UInt8(ascii: "\\") {
                isEscaped = true
                position += 1
            }
            position += 1
        }
        guard position < bytes.count else {
            position = bytes.count
            throw failure("the end of a string")
        }
        let raw = bytes[start..<position]
        position += 1
        return isEscaped ? try unescaped(raw) : String(decoding: raw, as: UTF8.self)
    }

    private func unescaped(_ raw: ArraySlice<UInt8>) throws(TilesError) -> String {
        var units: [UInt16] = []
        var text = ""
        var index = raw.startIndex
        func flush(_ units: inout [UInt16]) {
            text += String(decoding: units, as: UTF16.self)
            units.removeAll()
        }
        while index < raw.endIndex {
            guard raw[index] == UInt8(ascii: "\\") else {
                let plain = raw[index...].prefix { $0 != UInt8(ascii: "\\") }
                flush(&units)
                text += String(decoding: plain, as: UTF8.self)
                index = plain.endIndex
                continue
            }
            let kind = raw[index + 1]
            index += 2
            if kind == UInt8(ascii: "u") {
                let hex = raw[index...].prefix(4)
                guard hex.count == 4, hex.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
                    let unit = UInt16(String(decoding: hex, as: UTF8.self), radix: 16)
                else { throw failure("four hexadecimal digits after \\u in the string before") }
                units.append(unit)
                index = hex.endIndex
            } else if let place = Array("\"\\/bfnrt".utf8).firstIndex(of: kind) {
                units.append([0x22, 0x5C, 0x2F, 8, 12, 10, 13, 9][place])
            } else {
                throw failure("an escape of JSON in the string before")
            }
        }
        flush(&units)
        return text
    }
}
